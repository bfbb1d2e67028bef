"""Outcomes under the king-moves rule alone, worked out from tables made under the balance rule as well."""

from collections.abc import Iterable

import numpy as np

from generator.captureclosure import after_promotion, require_tables, with_captures
from generator.checkedset import Done
from generator.twocounts import Map, count_together
from generator.valuecheck import Values
from tablebase.format import Metric
from tablebase.manifest import Manifest
from tablebase.material import Material


def tables_needed(manifest: Manifest, changed: Iterable[Material]) -> set[Material]:
    """The slices that it takes to work out those: all that moves lead to from there.

    Raises:
        MissingTableError: one is not there; the message names the table.
    """
    both = {each for material in changed for each in (material, material.mirror)}
    needed = with_captures(both | {after for material in both for after in after_promotion(material)})
    require_tables(manifest, needed, Metric.WDL, "telling what the king-moves rule alone changes")
    return needed


def leave_king_moves_alone(
    values: Values, changed: Iterable[Material], plies: int, run: Map, done: Done
) -> None:
    """Put into the arena what the king-moves rule alone makes of every position.

    A rule more makes draws of wins and losses, never the other way round, so only positions stored as cursed
    wins and blessed losses can differ. Those that the king-moves rule does not draw become wins and losses.

    Args:
        values: outcomes under both rules of the slices of `tables_needed`, those with a capture filled in.
        changed: the slices that can have cursed wins or blessed losses.
        plies: how many plies kings may move in a row.
        run: how to do many things: `map`, or that of a pool of threads.
        done: told how many positions of the changed slices and their mirrors are done with.
    """
    wdl, start = values.arena.wdl, values.arena.layout.start
    pairs = {tuple(sorted((each, each.mirror), key=values.number)) for each in changed}
    stale = False  # whether positions with a capture are filled from outcomes that have changed since
    pieces = 0
    # What a move leads to comes first: fewer pieces, then fewer men.
    for first, last in sorted(pairs, key=lambda pair: pair[0].place()):
        if stale and first.pieces > pieces:
            values.fill(lambda more: None)
            stale = False
        pieces = first.pieces
        end = int(start[values.number(last) + 1])
        counts = count_together(values.arena, values.number(first), values.number(last), plies, run)
        stale = stale or not np.array_equal(wdl[counts.first : end], counts.stored)
        done(len(counts.stored))
