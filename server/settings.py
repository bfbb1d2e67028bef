"""The settings of the service: the only place with their meaning, bounds and defaults.

The environment variable of the setting `cache_bytes` is `SHASHKI_CACHE_BYTES`. A caller of `create_app` gives
it as `CACHE_BYTES`, which takes precedence. The data directory is not a setting (`tablebase.tables.files`).
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from difflib import get_close_matches
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from tablebase.errors import ArgumentError, quote
from tablebase.games.adjudication import MAX_PLIES
from tablebase.games.analysis import SEARCH_EFFORT
from tablebase.tables.table import DEFAULT_CACHE_BYTES

PREFIX = "SHASHKI_"
"""The prefix of a setting's environment variable."""

_Bytes = Annotated[int, Field(ge=0, le=1 << 40)]
_Count = Annotated[int, Field(ge=1, le=1_000_000_000)]


class SettingsError(ArgumentError):
    """An invalid setting; the message names it and says what is allowed."""


class Settings(BaseModel):
    """The settings, for each process."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    cache_bytes: _Bytes = Field(DEFAULT_CACHE_BYTES, description="memory for decoded frames, in bytes")
    array_bytes: _Bytes = Field(
        64 << 20,
        description="memory for tables that are decoded as a whole, in bytes: random positions with a rare "
        "outcome need them",
    )
    compiled: Literal["auto", "yes", "no"] = Field(
        "auto",
        description="whether to probe by compiled kernels, which need numba, a second at the start and some "
        "120 MB of memory: `auto` if numba is installed, `yes`, `no`",
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
        MAX_PLIES, description="the most plies of a game to replay; a longer game has a problem that says so"
    )
    max_line_plies: _Count = Field(500, description="the longest line of `/v1/line`, in plies")
    position_effort: _Count = Field(
        SEARCH_EFFORT,
        description="how many positions to search for one position and its moves, if the tables alone do not "
        "tell how a game ends under the rules",
    )
    request_effort: _Count = Field(
        10_000,
        description="how many positions to search for a whole `POST /v1/game`, `POST /v1/positions` or "
        "`/v1/line`: a second or two. After that the tables alone answer",
    )
    random_effort: _Count = Field(
        1_000_000,
        description="how many positions to probe for one random position with a rare outcome: a second or "
        "two; without compiled kernels a fiftieth of them",
    )
    max_heavy: _Count = Field(
        1,
        description="how many requests that may take seconds (`/v1/line`, `/v1/random`, `/v1/positions`, "
        "`/v1/game`) a process works on at a time; others get 503",
    )
    max_per_minute: Annotated[int, Field(ge=0, le=1_000_000_000)] = Field(
        0,
        description="how many requests for `/v1/` a process answers per minute and address; 0: no limit. "
        "Behind a proxy every request has the address of the proxy, so set the limit there",
    )


def misspelt(environment: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return environment variables that look like misspelt settings, with the likely setting of each."""
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
    """Return the settings from the environment and from `given`, which has names in capitals.

    Raises:
        SettingsError: a setting is out of range.
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
