"""A random position of a material with a wanted outcome.

Positions are drawn until one has the outcome: a few at first, then more at a time. All are equally likely. If
the outcome is rare, the stored outcomes of the table are searched from a random index on. Outcomes of
positions with a capture are not stored. If only such positions have the outcome, positions are probed one
after another.
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
"""Numbers of positions drawn at a time: an outcome of one position in a thousand is nearly always found."""

_CHUNK = 1 << 14
"""Number of positions searched at a time, if all may have to be."""


def random_position(
    tablebase: Tablebase,
    material: Material,
    outcome: Outcome | None,
    random: Random,
    max_probed: int | None = None,
) -> Position | None:
    """Return a random position of a material and outcome, White to move; None if none is found.

    All positions of an outcome are equally likely, unless it is rare. At worst every position of the material
    is searched twice, which takes minutes for millions.

    Args:
        tablebase: the tables; the WDL table of the material must be there.
        material: the pieces, those of the side to move first.
        outcome: the outcome for the side to move from fresh counters; None accepts any.
        random: the generator; the same state gives the same position.
        max_probed: limit of positions to probe if no position without a capture has the outcome; None sets no
            limit.

    Raises:
        MissingTableError: the material has no WDL table.
        TableError: a table is there but cannot be read.
        ClosedError: the tablebase is closed.
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
    """Return the first position among `indices` that has the outcome, captures resolved."""
    wdl = tablebase.probe_many(sets_at_each(material, indices), np.zeros(len(indices), np.bool_)).wdl
    hits = np.flatnonzero(wdl == outcome.wdl)
    return _position(material, int(indices[hits[0]])) if len(hits) else None


def _find_in_table(
    tablebase: Tablebase, material: Material, outcome: Outcome, random: Random
) -> Position | None:
    """Return a position without a capture whose stored outcome is the wanted one."""
    for indices in _chunks(material, random):
        hits = indices[tablebase.stored_outcomes(material, indices) == outcome.wdl].tolist()
        random.shuffle(hits)
        for index in hits:
            position = _position(material, index)
            # The value stored for a position with a capture is the one that compresses best.
            if not has_capture(position):
                return position
    return None


def _find_by_probing(
    tablebase: Tablebase, material: Material, outcome: Outcome, random: Random, most: int | None
) -> Position | None:
    """Return a position that has the outcome, after probing at most `most` positions."""
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
    """Yield all indices of a material in chunks, from a random index on."""
    first = random.randrange(material.positions)
    for whole in (range(first, material.positions), range(first)):
        for start in range(whole.start, whole.stop, _CHUNK):
            yield np.arange(start, min(start + _CHUNK, whole.stop))
