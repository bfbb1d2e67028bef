"""The values of a slice as the solver leaves them: outcome and DTC in one byte a position.

    2 * DTC + 1    won under the rules        CURSED_WIN      won on the board alone
    2 * DTC        lost under the rules       BLESSED_LOSS    lost on the board alone
                                              DRAW            neither

So the lowest bit says who wins, wherever somebody does. While a block is being solved a byte is NOT_DECIDED
until something is known of it, and what stays so is a draw; in the results of a slice the STORED bit comes on
top, where the position has no capture and its value goes into the files.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

NOT_DECIDED = 255
STORED = 128
VALUE = 127  # what is left without the STORED bit

DRAW = NOT_DECIDED & VALUE
CURSED_WIN = 125
BLESSED_LOSS = 124
# The longest DTC that there is room for; the solver stops with an error where there is a longer one.
LONGEST_DTC = 61

# The outcome of each value, -2 (loss) to 2 (win).
WDL_OF = np.full(STORED, 0, dtype=np.int8)
WDL_OF[0 : 2 * LONGEST_DTC + 2 : 2] = -2
WDL_OF[1 : 2 * LONGEST_DTC + 2 : 2] = 2
WDL_OF[BLESSED_LOSS], WDL_OF[CURSED_WIN] = -1, 1


class Results(NamedTuple):
    """A slice in the order of its index.

    `value` uint8: outcome and DTC, and whether the position is stored (see above). `dtw`, `dtb` uint8: in
    plies, NOT_DECIDED where there is none; empty where nobody asks for them.
    """

    value: NDArray[np.uint8]
    dtw: NDArray[np.uint8]
    dtb: NDArray[np.uint8]


def is_stored(results: Results) -> NDArray[np.bool_]:
    """Which positions have no capture."""
    return results.value >= STORED


def outcomes(results: Results) -> NDArray[np.int8]:
    """The outcome of every position, -2 (loss) to 2 (win)."""
    found: NDArray[np.int8] = WDL_OF[results.value & VALUE]
    return found


def distances(results: Results) -> NDArray[np.uint8]:
    """The DTC of every position in plies, NOT_DECIDED where it has none."""
    value = results.value & np.uint8(VALUE)
    return np.where(value < BLESSED_LOSS, value >> 1, np.uint8(NOT_DECIDED)).astype(np.uint8)


def make_drawn(results: Results, indices: NDArray[np.int64]) -> None:
    """Positions that are decided under the rules: let them be decided on the board alone."""
    value = results.value[indices]
    left = np.where(value & 1, np.uint8(CURSED_WIN), np.uint8(BLESSED_LOSS))
    results.value[indices] = value & np.uint8(STORED) | left
