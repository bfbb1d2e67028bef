"""Values of a slice as the solver leaves them: outcome and DTC in one byte a position.

| byte         | meaning                                       |
| ------------ | --------------------------------------------- |
| 2 * DTC + 1  | won under the rules                           |
| 2 * DTC      | lost under the rules                          |
| CURSED_WIN   | won without draw rules, drawn under them      |
| BLESSED_LOSS | lost without draw rules, drawn under them     |
| DRAW         | drawn without draw rules                      |

So the lowest bit tells a win from a loss. While a block is solved, a byte is NOT_DECIDED until its value is
known; the bytes that stay so are draws. In the results of a slice the STORED bit is added for positions
without a capture, whose values are written to files.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

NOT_DECIDED = 255
STORED = 128
VALUE = 127  # mask of a byte without the STORED bit

DRAW = NOT_DECIDED & VALUE
CURSED_WIN = 125
BLESSED_LOSS = 124
# The longest DTC that fits a byte; the solver raises DistanceOverflowError for a longer one.
LONGEST_DTC = 61

# The outcome of each value, from -2 (loss) to 2 (win).
WDL_OF = np.full(STORED, 0, dtype=np.int8)
WDL_OF[0 : 2 * LONGEST_DTC + 2 : 2] = -2
WDL_OF[1 : 2 * LONGEST_DTC + 2 : 2] = 2
WDL_OF[BLESSED_LOSS], WDL_OF[CURSED_WIN] = -1, 1


class Results(NamedTuple):
    """Values of a slice in index order.

    Attributes:
        value: uint8 [position], outcome and DTC, and the STORED bit (see above).
        dtw: uint8 [position], DTW in plies, NOT_DECIDED for draws; empty if DTW is not solved.
        dtb: uint8 [position], DTB in plies, NOT_DECIDED if there is none; empty if DTB is not solved.
    """

    value: NDArray[np.uint8]
    dtw: NDArray[np.uint8]
    dtb: NDArray[np.uint8]


def is_stored(results: Results) -> NDArray[np.bool_]:
    """Return for each position whether files store its value, as it has no capture."""
    return results.value >= STORED


def outcomes(results: Results) -> NDArray[np.int8]:
    """Return the outcome of every position, int8, from -2 (loss) to 2 (win)."""
    found: NDArray[np.int8] = WDL_OF[results.value & VALUE]
    return found


def distances(results: Results) -> NDArray[np.uint8]:
    """Return the DTC of every position in plies, NOT_DECIDED for positions without a DTC."""
    value = results.value & np.uint8(VALUE)
    return np.where(value < BLESSED_LOSS, value >> 1, np.uint8(NOT_DECIDED)).astype(np.uint8)
