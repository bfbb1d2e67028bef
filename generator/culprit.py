"""Which stored value is wrong, where one makes others wrong: it is found at its own place, and again at each
position from which a move leads to it."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from tablebase.kernels.movegen import has_capture, new_buffer, successors
from tablebase.kernels.scalarindex import Layout, sets_at, slot_of

_SUSPECTS = 256  # how many wrong values are looked into for the one that makes the others wrong
_EXPANDED = 16  # of how many the successors are looked into as well


class Difference(NamedTuple):
    """A stored value that does not follow from its successors, and all that does."""

    which: int
    place: int  # its index in the slice
    metric: int
    wdl: int
    dtc: int
    dtw: int
    dtb: int = 0


class Suspected(Protocol):
    """Stored values, among which one is wrong."""

    @property
    def layout(self) -> Layout:
        """The slices, by number."""

    def differing(self, number: int, indices: NDArray[np.int64]) -> list[Difference]:
        """Those of some positions of a slice, at rising indices, that do not follow from their successors."""

    def put_right(self, suspect: Difference) -> AbstractContextManager[None]:
        """For a while, take what follows from its successors for what is stored."""


def culprit(values: Suspected, found: list[Difference], whole: bool) -> Difference:
    """Of several suspects, the one without which all is right, if there is one; else the first.

    Args:
        values: where they were found.
        found: the suspects, one or more.
        whole: whether every position was looked at; of a part, the fault may stand a move further on.
    """
    suspects = found[:_SUSPECTS]
    known = {(suspect.which, suspect.place) for suspect in suspects}
    if not whole:
        for suspect in found[:_EXPANDED]:
            for place in stored_after(values.layout, suspect.which, suspect.place):
                if place not in known:
                    known.add(place)
                    suspects += values.differing(place[0], np.array(place[1:], np.int64))
    if len(suspects) == 1:
        return suspects[0]
    return next((suspect for suspect in suspects if _explains(values, suspect, suspects)), suspects[0])


def _explains(values: Suspected, suspect: Difference, suspects: list[Difference]) -> bool:
    """Whether nothing is wrong with any of the suspects when this one's values are put right."""
    places: dict[int, list[int]] = {}
    for other in suspects:
        places.setdefault(other.which, []).append(other.place)
    with values.put_right(suspect):
        return not any(
            values.differing(number, np.array(sorted(indices), np.int64))
            for number, indices in places.items()
        )


def stored_after(layout: Layout, which: int, place: int) -> Iterator[tuple[int, int]]:
    """The stored positions whose values decide a position's, slice and index: a move on, and any captures
    behind it."""
    buffer = new_buffer()
    waiting = [sets_at(layout, which, place)]
    while waiting:
        own_men, own_kings, other_men, other_kings = waiting.pop()
        count = successors(own_men, own_kings, other_men, other_kings, buffer)
        for own_men, own_kings, other_men, other_kings in buffer[:count].tolist():
            if not own_men | own_kings:
                continue
            if has_capture(own_men, own_kings, other_men, other_kings):
                waiting.append((own_men, own_kings, other_men, other_kings))
                continue
            slot = slot_of(layout, own_men, own_kings, other_men, other_kings)
            number = int(np.searchsorted(layout.start, slot, side="right")) - 1
            yield number, slot - int(layout.start[number])
