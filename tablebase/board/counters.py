"""The counters of a game in progress, as a FEN, an API and a command line carry them."""

from __future__ import annotations

import re
from dataclasses import astuple, dataclass, fields
from enum import StrEnum

from tablebase.errors import CounterError, quote

_FIELD = re.compile(r"C([0-9]{1,6})" + r",([0-9]{1,6})" * 4)
_MOST = 999_999


class CounterName(StrEnum):
    """The counters, each by the name that it has everywhere."""

    KING_PLIES = "king_plies"
    BALANCE_PLIES = "balance_plies"
    THREE_KINGS_MOVES = "three_kings_moves"
    ROAD_MOVES = "road_moves"
    REPETITIONS = "repetitions"


@dataclass(frozen=True, slots=True)
class Counters:
    """How far each count has come. The default is a game that begins: nothing is known of what was before.

    What exactly is counted is for the ruleset to say, which may leave some of them unused; the meanings here
    are those of the official rules.

    Attributes:
        king_plies: plies in a row, of both sides, by kings only and without a capture, while both sides
            have a king.
        balance_plies: plies since the last capture or promotion, while both sides have a king. In
            `lidraughts` its one shared clock.
        three_kings_moves: the stronger side's own moves since it stood with three or more kings, and nothing
            else, against a lone king.
        road_moves: the stronger side's own moves since the lone king stands on the main road against three
            pieces. In `lidraughts` the plies after which it stood there.
        repetitions: how many times the present position has come up, this time included. 0 is as good as 1:
            no earlier time is known.

    Raises:
        CounterError: one of them is no whole number from 0 to 999,999; the message names it.
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
        """All of them, by their names, in the order of the attributes."""
        return {str(counter): self[counter] for counter in CounterName}

    def to_field(self) -> str:
        """The counters as a field of a FEN, `C29,12,0,0,1`: in the order of the attributes."""
        return "C" + ",".join(map(str, astuple(self)))

    @classmethod
    def from_field(cls, text: str) -> Counters:
        """Read what `to_field` writes.

        Raises:
            CounterError: the text is something else.
        """
        found = _FIELD.fullmatch(text)
        if found is None:
            raise CounterError(
                f"{quote(text)} is no field of counters; it is C and five numbers from 0 to {_MOST} "
                f"joined by commas, as in {cls().to_field()}: {', '.join(CounterName)}"
            )
        return cls(*map(int, found.groups()))
