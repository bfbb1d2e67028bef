"""Counters of a game in progress, as a FEN, the HTTP API and the command line carry them."""

from __future__ import annotations

import re
from dataclasses import astuple, dataclass, fields
from enum import StrEnum

from tablebase.errors import CounterError, quote

_FIELD = re.compile(r"C([0-9]{1,6})" + r",([0-9]{1,6})" * 4)
_MOST = 999_999


class CounterName(StrEnum):
    """The name of a counter, as files, the command line and HTTP write it."""

    KING_PLIES = "king_plies"
    BALANCE_PLIES = "balance_plies"
    THREE_KINGS_MOVES = "three_kings_moves"
    ROAD_MOVES = "road_moves"
    REPETITIONS = "repetitions"


@dataclass(frozen=True, slots=True)
class Counters:
    """The values of all counters at one position. The default is fresh counters.

    The meanings below are those of the ruleset `official`. Other rulesets may define a counter differently or
    not use it.

    Attributes:
        king_plies: plies in a row, of both sides, by kings only and without a capture, while both sides
            have a king.
        balance_plies: plies since the last capture or promotion, while both sides have a king. In the ruleset
            `lidraughts`, its one shared clock.
        three_kings_moves: the stronger side's own moves since it has had three or more kings, and nothing
            else, against a lone king.
        road_moves: the stronger side's own moves since the lone king has stood on the main road against three
            pieces. In the ruleset `lidraughts`, the plies after which it stood there.
        repetitions: occurrences of the present position, including now. 0 means the same as 1: no earlier
            occurrence is known.

    Raises:
        CounterError: a counter is not a whole number from 0 to 999,999; the message names it.
    """

    king_plies: int = 0
    balance_plies: int = 0
    three_kings_moves: int = 0
    road_moves: int = 0
    repetitions: int = 1

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= _MOST:
                raise CounterError(
                    f"{field.name} is {quote(str(value))}; a counter is a whole number from 0 to {_MOST}"
                )

    def __getitem__(self, counter: CounterName) -> int:
        value: int = getattr(self, counter)
        return value

    def by_name(self) -> dict[str, int]:
        """Return the counters by name, in the order of the attributes."""
        return {str(counter): self[counter] for counter in CounterName}

    def to_field(self) -> str:
        """Return the field `C` of a FEN, `C29,12,0,0,1`, with the counters in the order of the attributes."""
        return "C" + ",".join(map(str, astuple(self)))

    @classmethod
    def from_field(cls, text: str) -> Counters:
        """Return the counters of a field that `to_field` has written.

        Raises:
            CounterError: the text is not such a field.
        """
        found = _FIELD.fullmatch(text)
        if found is None:
            raise CounterError(
                f"{quote(text)} is not a field of counters; write C and five numbers from 0 to {_MOST} "
                f"joined by commas, as in {cls().to_field()}: {', '.join(CounterName)}"
            )
        return cls(*map(int, found.groups()))
