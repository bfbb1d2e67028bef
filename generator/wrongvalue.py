"""A wrong value of a table, as the problem that is told."""

from generator.checkedset import CheckedSet
from generator.culprit import Difference
from generator.derivation import DTB, DTC, DTW, WDL
from generator.problem import Problem
from tablebase.board import Position
from tablebase.format import Metric, dtw_plies, table_name
from tablebase.kernels.scalarindex import sets_at
from tablebase.outcome import Outcome

_METRICS = {WDL: Metric.WDL, DTC: Metric.DTC, DTW: Metric.DTW, DTB: Metric.DTB}

_REPORT = "the file is whole, so the fault was in making it: please report it"


def problem_of(checked: CheckedSet, wrong: Difference) -> Problem:
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
    checked: CheckedSet, number: int, index: int, wdl: int, plies: int, count: int | None
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


def dtb_problem(checked: CheckedSet, number: int, index: int, wdl: int, needed: int) -> Problem:
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


def _in_file(checked: CheckedSet, number: int, metric: Metric, index: int) -> int:
    with checked.open_table(checked.slices[number], metric) as table:
        return table.value(index)


def _fen(checked: CheckedSet, number: int, index: int) -> str:
    own_men, own_kings, other_men, other_kings = sets_at(checked.layout, number, index)
    return Position(int(own_men), int(own_kings), int(other_men), int(other_kings)).to_fen()
