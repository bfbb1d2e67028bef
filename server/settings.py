"""The settings of the service: each with its meaning, its bounds and its default, here and nowhere else.

A setting `cache_bytes` comes from the environment as `SHASHKI_CACHE_BYTES`, or from whoever calls
`create_app` as `CACHE_BYTES`, which goes first. Where the tables are is told apart
(`tablebase.tables.files`)."""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tablebase.errors import ArgumentError, quote
from tablebase.games.adjudication import MAX_PLIES
from tablebase.games.analysis import SEARCH_EFFORT
from tablebase.tables.table import DEFAULT_BYTES

PREFIX = "SHASHKI_"
"""What a setting's name begins with in the environment."""

_Bytes = Annotated[int, Field(ge=0, le=1 << 40)]
_Count = Annotated[int, Field(ge=1, le=1_000_000_000)]


class SettingsError(ArgumentError):
    """A setting that makes no sense: the message names it, and says what it may be."""


class Settings(BaseModel):
    """What can be set, for each process that answers."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cache_bytes: _Bytes = Field(
        DEFAULT_BYTES, description="how much memory decoded frames may take, in bytes"
    )
    array_bytes: _Bytes = Field(
        64 << 20,
        description="how much memory tables that are decoded as a whole may take, in bytes: random positions "
        "with a rare outcome ask for those",
    )
    compiled: Literal["auto", "yes", "no"] = Field(
        "auto",
        description="whether to probe by compiled kernels, which takes numba, a second at the start and some "
        "120 MB of memory: `auto` where numba is installed, `yes`, `no`",
    )
    max_body_bytes: _Bytes = Field(
        256 << 10, description="the longest body of `POST /v1/positions`, in bytes"
    )
    max_pdn_bytes: _Bytes = Field(
        64 << 10,
        description="the longest body of `POST /v1/game`, in bytes: some fifty games of a hundred plies",
    )
    max_positions: _Count = Field(1000, description="the most positions of one `POST /v1/positions`")
    max_games: _Count = Field(50, description="the most games of one `POST /v1/game`")
    max_game_plies: _Count = Field(
        MAX_PLIES, description="the most plies of a game that are followed; more are a problem of that game"
    )
    max_line_plies: _Count = Field(500, description="the longest line of `/v1/line`, in plies")
    position_effort: _Count = Field(
        SEARCH_EFFORT,
        description="how many positions are looked at for one position and its moves, where the tables alone "
        "do not tell how a game ends under the rules",
    )
    request_effort: _Count = Field(
        10_000,
        description="the same for all of one `POST /v1/game`, `POST /v1/positions` or `/v1/line` together: a "
        "second or two, where they are all needed. What comes after that is told by tables alone",
    )
    random_effort: _Count = Field(
        1_000_000,
        description="how many positions may be probed for one random position, of an outcome that hardly any "
        "has: a second or two; without compiled kernels a fiftieth of them",
    )
    max_heavy: _Count = Field(
        1,
        description="how many of the requests that may take seconds (`/v1/line`, `/v1/random`, "
        "`/v1/positions`, `/v1/game`) are worked on at a time by one process; others are told to come again",
    )
    max_per_minute: Annotated[int, Field(ge=0, le=1_000_000_000)] = Field(
        0,
        description="how many requests for `/v1/` of one address a process answers in a minute; 0: all of "
        "them. Behind a proxy every request has the address of the proxy, so that it has to do this",
    )


def misspelt(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Variables of the environment that are no settings, and the settings that they look much like."""
    known = [PREFIX + name.upper() for name in Settings.model_fields]
    close = {
        name: get_close_matches(name, known, 1, cutoff=0.85)
        for name in environment
        if name.startswith(PREFIX) and name not in known
    }
    return {name: found[0] for name, found in close.items() if found}


def load_settings(
    given: Mapping[str, object] | None = None, environment: Mapping[str, str] = os.environ
) -> Settings:
    """The settings, from the environment and as they are given, by their names in capitals.

    Raises:
        SettingsError: one makes no sense.
    """
    names = {name: name.upper() for name in Settings.model_fields}
    values: dict[str, Any] = {}
    sources: dict[str, str] = {}
    for name, upper in names.items():
        for source, key, found in (
            (f"the environment variable {PREFIX}{upper}", PREFIX + upper, environment),
            (f"the setting {upper}", upper, given or {}),
        ):
            if key in found:
                values[name], sources[name] = found[key], source
    try:
        return Settings.model_validate(values)
    except ValidationError as error:
        first = error.errors()[0]
        name = str(first["loc"][0])
        raise SettingsError(
            f"{sources[name]} is {quote(str(values[name]))}: {first['msg'].lower()}"
        ) from None
