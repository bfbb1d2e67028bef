"""Findings of the verifier: wrong values, and the wrong value that explains the others."""

from collections.abc import Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Protocol

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
class Finding:
    """One thing that is wrong; `str()` is the message.

    Attributes:
        message: what is wrong, where, and what to do.
        material: the slice, if it applies.
        metric: the table, if it applies.
        index: the position's index in its slice, if it applies.
        fen: the position, if it applies.
        stored: the stored outcome or plies; None if it does not apply, or for a number that is neither.
        derived: the outcome or plies that follow from the successors, if it applies.
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


_SUSPECTS = 256  # differences that are examined for the root cause
_EXPANDED = 16  # differences whose successors are examined as well


@dataclass(frozen=True, slots=True)
class Difference:
    """A stored value that does not follow from its successors, with all derived values.

    Attributes:
        slice_id: the slice.
        index: the position's index in the slice.
        metric: the first metric that differs: WDL, DTC, DTW or DTB.
        wdl: the derived outcome.
        dtc: the derived DTC, plies.
        dtw: the derived DTW, plies.
        dtb: the derived DTB, plies.
    """

    slice_id: int
    index: int
    metric: int
    wdl: int
    dtc: int
    dtw: int
    dtb: int = 0


class ValueSource(Protocol):
    """Stored values that can be compared with derived ones, and changed for a test."""

    @property
    def layout(self) -> Layout:
        """The slices by number."""

    def differing(self, slice_id: int, indices: NDArray[np.int64]) -> list[Difference]:
        """Return the differences at rising indices of a slice."""

    def assume_derived(self, suspect: Difference) -> AbstractContextManager[None]:
        """Use the derived values of `suspect` in place of its stored ones, inside a `with` block."""


def root_cause(values: ValueSource, found: list[Difference], whole: bool) -> Difference:
    """Return the difference that explains all others, or the first if none does.

    A difference explains others if they vanish once its derived values replace the stored ones.

    Args:
        values: the values in which the differences were found.
        found: the differences, one or more.
        whole: whether every position was compared. In a sample, the cause may be one move further on.
    """
    suspects = found[:_SUSPECTS]
    known = {(suspect.slice_id, suspect.index) for suspect in suspects}
    if not whole:
        for suspect in found[:_EXPANDED]:
            for index in stored_after(values.layout, suspect.slice_id, suspect.index):
                if index not in known:
                    known.add(index)
                    suspects += values.differing(index[0], np.array(index[1:], np.int64))
    if len(suspects) == 1:
        return suspects[0]
    return next((suspect for suspect in suspects if _explains(values, suspect, suspects)), suspects[0])


def _explains(values: ValueSource, suspect: Difference, suspects: list[Difference]) -> bool:
    """Whether no suspect differs once this one's stored values are replaced by its derived ones."""
    indices: dict[int, list[int]] = {}
    for other in suspects:
        indices.setdefault(other.slice_id, []).append(other.index)
    with values.assume_derived(suspect):
        return not any(
            values.differing(slice_id, np.array(sorted(indices), np.int64))
            for slice_id, indices in indices.items()
        )


def stored_after(layout: Layout, slice_id: int, index: int) -> Iterator[tuple[int, int]]:
    """Yield slice and index of the stored positions that decide a position's values.

    They are one move away, or behind the captures that follow the move.
    """
    buffer = new_buffer()
    waiting = [sets_at(layout, slice_id, index)]
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
            slice_id = int(np.searchsorted(layout.start, slot, side="right")) - 1
            yield slice_id, slot - int(layout.start[slice_id])


_METRICS = {WDL: Metric.WDL, DTC: Metric.DTC, DTW: Metric.DTW, DTB: Metric.DTB}

_REPORT = "the file is whole, so it was made wrong: please report it"


def finding_of(checked: SliceSet, wrong: Difference) -> Finding:
    """Return the finding for a value that does not follow from its successors."""
    material = checked.slices[wrong.slice_id]
    metric = _METRICS[wrong.metric]
    fen = _fen(checked, wrong.slice_id, wrong.index)
    in_file = _in_file(checked, wrong.slice_id, metric, wrong.index)
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
    message = f"{table_name(material, metric)} is wrong at index {wrong.index}, {fen}: {what}; {_REPORT}"
    return Finding(message, material, metric, wrong.index, fen, stored, derived)


def outcome_finding(
    checked: SliceSet, slice_id: int, index: int, wdl: int, plies: int, count: int | None
) -> Finding:
    """Return the finding for an outcome that does not fit both counts.

    Args:
        checked: the set.
        slice_id: the slice.
        index: the position's index.
        wdl: the stored outcome.
        plies: the plies that the rules allow from one change of material to the next.
        count: the number of such positions, if known.
    """
    material = checked.slices[slice_id]
    many = "" if count is None else f" (number of such positions: {count})"
    stored = Outcome.from_wdl(wdl)
    derived = Outcome.from_wdl(wdl // 2 if abs(wdl) == 2 else 2 * wdl)
    fen = _fen(checked, slice_id, index)
    message = (
        f"{table_name(material, Metric.WDL)} is wrong at index {index}, {fen}: the stored outcome is "
        f"{stored}, but the rules {checked.ruleset.name} make it {derived}, as at most "
        f"{checked.ruleset.king_moves_plies} plies of king moves and {plies} plies without a capture or "
        f"promotion may follow each other{many}; {_REPORT}"
    )
    return Finding(message, material, Metric.WDL, index, fen, stored, derived)


def dtb_finding(checked: SliceSet, slice_id: int, index: int, wdl: int, needed: int) -> Finding:
    """Return the finding for a wrong DTB at a position with a right outcome; `needed` is the right DTB."""
    material = checked.slices[slice_id]
    fen = _fen(checked, slice_id, index)
    stored = _in_file(checked, slice_id, Metric.DTB, index)
    message = (
        f"{table_name(material, Metric.DTB)} is wrong at index {index}, {fen}: the stored DTB of "
        f"this {Outcome.from_wdl(wdl)} is {stored} plies, but the rules {checked.ruleset.name} make it "
        f"{needed}; {_REPORT}"
    )
    return Finding(message, material, Metric.DTB, index, fen, stored, needed)


def _in_file(checked: SliceSet, slice_id: int, metric: Metric, index: int) -> int:
    with checked.open_table(checked.slices[slice_id], metric) as table:
        return table.value(index)


def _fen(checked: SliceSet, slice_id: int, index: int) -> str:
    own_men, own_kings, other_men, other_kings = sets_at(checked.layout, slice_id, index)
    return Position(int(own_men), int(own_kings), int(other_men), int(other_kings)).to_fen()
