"""How many blocks each run of a pair has, by counting: of nine pieces there are too many blocks to list."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tablebase.material import Material

_SQUARES = 32
_LAST_ROW = 7


class RunSize(NamedTuple):
    """A run of blocks: the steps that their men have yet to go, whether they are their own twins, how many
    they are."""

    steps_to_go: int
    twins: bool
    blocks: int


def run_sizes(pair: Material) -> list[RunSize]:
    """The runs of `Blocks(pair)`, in their order.

    Squares are gone through one by one: each has a man of either side, with so many steps to go, or none. For
    blocks that are their own twins, two squares at a time that a turn of the board swaps: both empty, or a
    man of each side.
    """
    every = _placements(pair.own_men, pair.other_men)
    if pair != pair.mirror:
        return [RunSize(steps, False, count) for steps, count in enumerate(every.tolist()) if count]
    own_twins = _twin_placements(pair.own_men, len(every))
    found = []
    for steps, (count, twins) in enumerate(zip(every.tolist(), own_twins.tolist(), strict=True)):
        if count > twins:
            found.append(RunSize(steps, False, (count - twins) // 2))
        if twins:
            found.append(RunSize(steps, True, twins))
    return found


def _placements(own: int, other: int) -> NDArray[np.int64]:
    """How many placements of so many men of each side there are, by steps to go."""
    counts = np.zeros((own + 1, other + 1, _LAST_ROW * (own + other) + 1), np.int64)
    counts[0, 0, 0] = 1
    for square in range(_SQUARES):
        row = square // 4
        before = counts.copy()
        if row < _LAST_ROW:
            steps = _LAST_ROW - row
            counts[1:, :, steps:] += before[:-1, :, : counts.shape[2] - steps]
        if row > 0:
            counts[:, 1:, row:] += before[:, :-1, : counts.shape[2] - row]
    found: NDArray[np.int64] = counts[own, other]
    return found


def _twin_placements(men: int, length: int) -> NDArray[np.int64]:
    """Those of so many men a side that are their own twins."""
    counts = np.zeros((men + 1, length), np.int64)
    counts[0, 0] = 1
    for square in range(_SQUARES // 2):
        before = counts.copy()
        # A man on this square and the other side's on its opposite, or the other way round.
        for row in (square // 4, _LAST_ROW - square // 4):
            steps = 2 * (_LAST_ROW - row)
            if row < _LAST_ROW and steps < length:
                counts[1:, steps:] += before[:-1, : length - steps]
    found: NDArray[np.int64] = counts[men]
    return found
