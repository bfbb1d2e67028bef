"""The positions whose outcome on the board a draw rule changes: cursed wins and blessed losses, counted."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from generator.captureclosure import after_captures, require_tables, with_captures
from generator.valuecheck import Values
from tablebase.board import Position
from tablebase.format import Metric, table_name
from tablebase.kernels.scalarindex import sets_at
from tablebase.manifest import Manifest
from tablebase.material import Material
from tablebase.outcome import Outcome
from tablebase.table import Table

_CHANGED = {Outcome.CURSED_WIN.wdl, Outcome.BLESSED_LOSS.wdl}


@dataclass(frozen=True)
class ChangedOutcomes:
    """What the rules of the tables change in a material.

    Attributes:
        material: the slice, side to move first, as text.
        positions: how many it has.
        cursed_wins: positions won on the board and drawn under the rules, and an example.
        blessed_losses: positions lost on the board and drawn under the rules, and an example.
    """

    material: str
    positions: int
    cursed_wins: int = 0
    cursed_win_fen: str | None = None
    blessed_losses: int = 0
    blessed_loss_fen: str | None = None


def changed_slices(directory: Path, manifest: Manifest) -> set[Material]:
    """The slices that can have such an outcome; every other has none.

    A position without a capture has one if the file says so, and a file's alphabet lists all the values that
    occur in it. One with a capture has one only if a capture leads to one.

    Raises:
        TableError: a table cannot be read.
        OSError: it is not there.
    """
    found: set[Material] = set()
    for material in sorted(manifest.slices, key=lambda each: each.pieces):
        with Table(directory / table_name(material, Metric.WDL)) as table:
            stored = bool(_CHANGED & set(table.header.alphabet))
        if stored or any(after in found for after in after_captures(material)):
            found.add(material)
    return found


def tables_needed(manifest: Manifest, changed: Iterable[Material]) -> set[Material]:
    """The slices that it takes to count those.

    Raises:
        MissingTableError: one is not there; the message names the table.
    """
    needed = with_captures(changed)
    require_tables(manifest, needed, Metric.WDL, "counting what the rules change")
    return needed


def changed_outcomes(
    values: Values, changed: set[Material], every: Iterable[Material]
) -> Iterator[ChangedOutcomes]:
    """Count, material by material, in the order given.

    Args:
        values: outcomes of the slices of `tables_needed`, positions with a capture filled in.
        changed: the slices that can have such an outcome.
        every: the slices to report.
    """
    for material in every:
        if material not in changed:
            yield ChangedOutcomes(str(material), material.positions)
            continue
        number = values.number(material)
        start = values.arena.layout.start
        wdl = values.arena.wdl[int(start[number]) : int(start[number + 1])]
        cursed, blessed = wdl == Outcome.CURSED_WIN.wdl, wdl == Outcome.BLESSED_LOSS.wdl
        yield ChangedOutcomes(
            str(material),
            material.positions,
            int(np.count_nonzero(cursed)),
            _first(values, number, cursed),
            int(np.count_nonzero(blessed)),
            _first(values, number, blessed),
        )


def _first(values: Values, number: int, among: NDArray[np.bool_]) -> str | None:
    if not among.any():
        return None
    return Position(*sets_at(values.arena.layout, number, int(among.argmax()))).to_fen()
