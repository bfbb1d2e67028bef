"""A random position of a material with a wanted outcome.

Positions are drawn until one has the outcome, all equally likely: a few at first, then more at a time. Where
that outcome is rare, what the table stores is gone through from a random place on. Positions with a capture
are not stored: an outcome that they alone have is found by probing one position after the other.
"""

from __future__ import annotations

from collections.abc import Iterator
from random import Random

import numpy as np
from numpy.typing import NDArray

from tablebase.board.material import Material
from tablebase.board.position import Color, Position, has_capture
from tablebase.probe.tablebase import Tablebase
from tablebase.rules.outcome import Outcome
from tablebase.tables.index import sets_at, sets_at_each

_BATCH_SIZES = (16, 128, 1024, 4096)
"""How many positions are drawn at a time: what one in a thousand has is found so nearly always."""

_CHUNK = 1 << 14
"""How many positions at a time are looked at where all may have to be."""


def random_position(
    tablebase: Tablebase,
    material: Material,
    outcome: Outcome | None,
    random: Random,
    max_probed: int | None = None,
) -> Position | None:
    """A position of a material, White to move, from fresh counters of that outcome for the side to move.

    Where an outcome is not rare, every position that has it is as likely as any other. Always ends: at the
    worst after it has looked at every position of the material twice, which takes minutes for millions.

    Args:
        tablebase: the tables; that of the material's outcomes must be there.
        material: the pieces, those of the side to move first.
        outcome: the wanted outcome; None for any.
        random: where chance comes from: the same state gives the same position.
        max_probed: of an outcome that no position without a capture has, how many positions to look at, at
            the most; None for all there are.

    Returns:
        The position; None where no position of the material has that outcome, or none of `max_probed`.

    Raises:
        MissingTableError: there is no table of the material.
        TableError: a table is there but cannot be read.
    """
    for size in _BATCH_SIZES:
        drawn = np.array([random.randrange(material.positions) for _ in range(size)], np.int64)
        if outcome is None:
            return _position(material, int(drawn[0]))
        if (found := _first_match(tablebase, material, drawn, outcome)) is not None:
            return found
    assert outcome is not None
    found = _find_in_table(tablebase, material, outcome, random)
    return found or _find_by_probing(tablebase, material, outcome, random, max_probed)


def _position(material: Material, index: int) -> Position:
    return Position(*sets_at(material, index), Color.WHITE)


def _first_match(
    tablebase: Tablebase, material: Material, indices: NDArray[np.int64], outcome: Outcome
) -> Position | None:
    """The first of some positions that has the outcome."""
    wdl = tablebase.probe_many(sets_at_each(material, indices), np.zeros(len(indices), np.bool_)).wdl
    hits = np.flatnonzero(wdl == outcome.wdl)
    return _position(material, int(indices[hits[0]])) if len(hits) else None


def _find_in_table(
    tablebase: Tablebase, material: Material, outcome: Outcome, random: Random
) -> Position | None:
    """A position without a capture of which the table stores the outcome."""
    for indices in _chunks(material, random):
        hits = indices[tablebase.stored_outcomes(material, indices) == outcome.wdl].tolist()
        random.shuffle(hits)
        for index in hits:
            position = _position(material, index)
            # At the place of a position with a capture stands whatever compresses best.
            if not has_capture(position):
                return position
    return None


def _find_by_probing(
    tablebase: Tablebase, material: Material, outcome: Outcome, random: Random, most: int | None
) -> Position | None:
    """A position that is found to have the outcome by probing at most so many."""
    left = material.positions if most is None else most
    for indices in _chunks(material, random):
        if left <= 0:
            break
        found = _first_match(tablebase, material, indices[:left], outcome)
        if found is not None:
            return found
        left -= len(indices)
    return None


def _chunks(material: Material, random: Random) -> Iterator[NDArray[np.int64]]:
    """All places of the index of a material, from a random one on."""
    first = random.randrange(material.positions)
    for whole in (range(first, material.positions), range(first)):
        for start in range(whole.start, whole.stop, _CHUNK):
            yield np.arange(start, min(start + _CHUNK, whole.stop))
