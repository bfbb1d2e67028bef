"""Findings of the verifier: wrong values, and the table that is their cause."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from generator.verify.derive import DTB, DTC, DTW, WDL
from generator.verify.slices import SliceSet
from tablebase.board.material import Material
from tablebase.board.position import Position
from tablebase.kernels.index import Layout, sets_at, slot_of
from tablebase.kernels.movegen import has_capture, new_buffer, successors
from tablebase.rules.outcome import Outcome
from tablebase.tables.format import Metric, dtw_plies, table_name


@dataclass(frozen=True)
class Problem:
    """One thing that is wrong; `str()` is the message. What does not apply is None.

    Attributes:
        message: what is wrong, where, and what to do.
        material: the slice.
        metric: the table.
        index: of the position in its slice.
        fen: the position.
        stored: what the table holds: an outcome, or plies; None also for a value that is neither.
        derived: what follows from the successors.
    """

    message: str
    material: Material | None = None
    metric: Metric | None = None
    index: int | None = None
    fen: str | None = None
    stored: Outcome | int | None = None
    derived: Outcome | int | None = None

    def __str__(self) -> str:
        return self.message


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


_METRICS = {WDL: Metric.WDL, DTC: Metric.DTC, DTW: Metric.DTW, DTB: Metric.DTB}

_REPORT = "the file is whole, so the fault was in making it: please report it"


def problem_of(checked: SliceSet, wrong: Difference) -> Problem:
    """A value that does not follow from its successors."""
    material = checked.slices[wrong.which]
    metric = _METRICS[wrong.metric]
    fen = _fen(checked, wrong.which, wrong.place)
    in_file = _in_file(checked, wrong.which, metric, wrong.place)
    stored: Outcome | int | None
    derived: Outcome | int
    if metric is Metric.WDL:
        stored = Outcome.from_wdl(in_file) if -2 <= in_file <= 2 else None
        derived = Outcome.from_wdl(wrong.wdl)
        what = f"the stored outcome is {stored or in_file}, but its moves make it {derived}"
    else:
        stored = dtw_plies(in_file, wrong.wdl > 0) if metric is Metric.DTW else in_file
        derived = {Metric.DTC: wrong.dtc, Metric.DTW: wrong.dtw, Metric.DTB: wrong.dtb}[metric]
        what = (
            f"the stored {metric.upper()} of this {Outcome.from_wdl(wrong.wdl)} is {stored} plies, "
            f"but its moves make it {derived}"
        )
    message = f"{table_name(material, metric)} is wrong at index {wrong.place}, {fen}: {what}; {_REPORT}"
    return Problem(message, material, metric, wrong.place, fen, stored, derived)


def outcome_problem(
    checked: SliceSet, number: int, index: int, wdl: int, plies: int, count: int | None
) -> Problem:
    """An outcome that does not keep both counts.

    Args:
        checked: the set.
        number: of the slice.
        index: of the position.
        wdl: the outcome that is stored.
        plies: that the rules allow from one change of balance to the next.
        count: how many such positions there are, if that is known.
    """
    material = checked.slices[number]
    many = "" if count is None else f" (so many such positions: {count})"
    stored = Outcome.from_wdl(wdl)
    derived = Outcome.from_wdl(wdl // 2 if abs(wdl) == 2 else 2 * wdl)
    fen = _fen(checked, number, index)
    message = (
        f"{table_name(material, Metric.WDL)} is wrong at index {index}, {fen}: the stored outcome is "
        f"{stored}, but the rules {checked.ruleset.name} make it {derived}, as at most "
        f"{checked.ruleset.king_moves_plies} plies of king moves and {plies} plies without a capture or "
        f"promotion may be played in a row{many}; {_REPORT}"
    )
    return Problem(message, material, Metric.WDL, index, fen, stored, derived)


def dtb_problem(checked: SliceSet, number: int, index: int, wdl: int, needed: int) -> Problem:
    """A DTB that is not what both counts make it, `needed` plies, of a position with a right outcome."""
    material = checked.slices[number]
    fen = _fen(checked, number, index)
    stored = _in_file(checked, number, Metric.DTB, index)
    message = (
        f"{table_name(material, Metric.DTB)} is wrong at index {index}, {fen}: the stored DTB of "
        f"this {Outcome.from_wdl(wdl)} is {stored} plies, but the rules {checked.ruleset.name} make it "
        f"{needed}; {_REPORT}"
    )
    return Problem(message, material, Metric.DTB, index, fen, stored, needed)


def _in_file(checked: SliceSet, number: int, metric: Metric, index: int) -> int:
    with checked.open_table(checked.slices[number], metric) as table:
        return table.value(index)


def _fen(checked: SliceSet, number: int, index: int) -> str:
    own_men, own_kings, other_men, other_kings = sets_at(checked.layout, number, index)
    return Position(int(own_men), int(own_kings), int(other_men), int(other_kings)).to_fen()
