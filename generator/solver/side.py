"""One side to move in a batch of blocks: its arrays while the batch is solved."""

from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from generator.solver.subsets import BINOMIAL
from generator.solver.successors import SuccessorTables, block_offset
from tablebase.kernels.bits import popcount
from tablebase.kernels.jit import inlined, inner, kernel

# Columns are read in strips of this many words: two AVX-512 registers, and few enough to skip strips often.
STRIP = 32
# Kernels that threads can share do one `part` of `parts`; alone, a kernel does part 0 of 1. Plain integers
# would be literals for numba, which compiles a kernel once more for them.
FIRST_PART = cast(int, np.int64(0))
ONE_PART = cast(int, np.int64(1))
# Events of losses are in the slots below this one, events of wins from it on (generator/solver/events.py).
WINS_SLOT = 128


class Side(NamedTuple):
    """One side to move in a batch of blocks.

    A position is a word and a lane. Words are in order [block][row][column]: the row is the rank of the
    mover's other kings, the column the rank of the opponent's kings. The lane is the square of one king of
    the mover, its lane king. A position is decided in one word only, in which the lane king is its highest
    king. A side without kings has words of one lane.

    | array                     | type, shape          | meaning                                           |
    | ------------------------- | -------------------- | ------------------------------------------------- |
    | `kings`, `opponent_kings` | int                  | kings of the mover, of its opponent               |
    | `blocks`                  | int                  | blocks of the batch                               |
    | `rows`, `columns`         | int                  | rows and columns of words in a block              |
    | `lanes`                   | int                  | lanes of a word: 32, or 1 without kings           |
    | `men`, `opponent_men`     | int64 [block]        | bit sets; the mover plays up                      |
    | `word_start`              | int64 [block]        | number of the first word in the successor tables  |
    | `first_bit`               | int64 [block]        | first bit in `lost` and `won` of these tables     |
    | `score_start`             | int64 [block]        | first score in these tables                       |
    | `dtb_score_start`         | int64 [block]        | first score in its tier (dtb_scores.py)           |
    | `quiet`                   | uint32 [word]        | lanes without a capture                           |
    | `open`                    | uint32 [word]        | lanes that are quiet and undecided                |
    | `held`                    | uint32 [word]        | lanes that cannot be lost now: a conversion saves |
    |                           |                      | them, or its distance is not reached yet          |
    | `new_wins`, `new_losses`  | uint32 [word]        | lanes decided at this ply                         |
    | `lost`, `won`             | uint32 [word]        | after a king move to this word and lane, the      |
    |                           |                      | opponent has lost or won                          |
    | `rule_win`                | uint32 [word]        | lanes with a conversion that wins under the rules |
    | `rule_safe`               | uint32 [word]        | lanes with a conversion that does not lose        |
    | `rule_any`                | uint32 [word]        | lanes with a conversion                           |
    | `material_win`,           | uint32 [word]        | the same for captures and promotions only;        |
    | `material_safe`,          |                      | undefined without a DTB pass                      |
    | `material_any`            |                      |                                                   |
    | `unruled_win`,            | uint32 [word]        | as `rule_win` and `rule_safe`, without draw       |
    | `unruled_safe`            |                      | rules; empty with scores                          |
    | `value`                   | uint8 [word * lanes] | outcome and DTC (results.py)                      |
    | `dtw`                     | uint8 [word * lanes] | best score, then DTW in plies; empty without DTW  |
    | `dtb`                     | uint8 [word * lanes] | best score, then DTB in plies; empty without DTB  |
    | `lost_changed`,           | uint8 [strip]        | ply at which `lost`, `won` of a strip are read    |
    | `won_changed`             |                      |                                                   |
    | `touched`                 | uint8 [strip * rows] | last ply with new results in a row of a strip     |
    | `event_first`             | int32 [256]          | first event of each slot, or -1 (events.py)       |
    | `event_next`              | int32 [event]        | next event of the slot, or -1                     |
    | `event_word`              | int32 [event]        | word of the event                                 |
    | `event_lanes`             | uint32 [event]       | lanes of the event                                |
    """

    kings: int
    opponent_kings: int
    blocks: int
    rows: int
    columns: int
    lanes: int
    men: NDArray[np.int64]
    opponent_men: NDArray[np.int64]
    word_start: NDArray[np.int64]
    first_bit: NDArray[np.int64]
    score_start: NDArray[np.int64]
    dtb_score_start: NDArray[np.int64]
    quiet: NDArray[np.uint32]
    open: NDArray[np.uint32]
    held: NDArray[np.uint32]
    new_wins: NDArray[np.uint32]
    new_losses: NDArray[np.uint32]
    lost: NDArray[np.uint32]
    won: NDArray[np.uint32]
    rule_win: NDArray[np.uint32]
    rule_safe: NDArray[np.uint32]
    rule_any: NDArray[np.uint32]
    material_win: NDArray[np.uint32]
    material_safe: NDArray[np.uint32]
    material_any: NDArray[np.uint32]
    unruled_win: NDArray[np.uint32]
    unruled_safe: NDArray[np.uint32]
    value: NDArray[np.uint8]
    dtw: NDArray[np.uint8]
    dtb: NDArray[np.uint8]
    lost_changed: NDArray[np.uint8]
    won_changed: NDArray[np.uint8]
    touched: NDArray[np.uint8]
    event_first: NDArray[np.int32]
    event_next: NDArray[np.int32]
    event_word: NDArray[np.int32]
    event_lanes: NDArray[np.uint32]


@inlined
def strip_count(side: Side) -> int:
    """Return how many strips a block has; strips are numbered through all blocks of the batch."""
    return (side.columns + STRIP - 1) // STRIP


@inlined
def word_count(side: Side) -> int:
    """Return how many words a block has."""
    return side.rows * side.columns


def strip_buffer() -> NDArray[np.uint32]:
    """Allocate a thread's buffer for three strips of words."""
    return np.zeros(3 * STRIP, dtype=np.uint32)


class SideBuffers(NamedTuple):
    """Arrays of one side for a batch of blocks, allocated once a thread (see `Side`)."""

    starts: NDArray[np.int64]  # [6, block]
    words: NDArray[np.uint32]  # [13, word]
    unruled: NDArray[np.uint32]  # [2, word]
    value: NDArray[np.uint8]
    dtw: NDArray[np.uint8]
    dtb: NDArray[np.uint8]
    strips: NDArray[np.uint8]  # [2, strip]
    touched: NDArray[np.uint8]  # [strip * rows]
    event_first: NDArray[np.int32]  # [256]
    event_next: NDArray[np.int32]
    event_word: NDArray[np.int32]
    event_lanes: NDArray[np.uint32]


def _make_side(
    kings: int,
    opponent_kings: int,
    men: NDArray[np.int64],
    first_index: NDArray[np.int64],
    successors: SuccessorTables,
    buffers: SideBuffers,
) -> Side:
    """Return one side of a batch, its state in `buffers`.

    Args:
        kings: kings of the mover.
        opponent_kings: kings of its opponent.
        men: int64 [block, 2], bit sets: the mover's men and its opponent's.
        first_index: int64 [block]; the side has no blocks if these are -1.
        successors: the successor tables.
        buffers: arrays for at least as many blocks.
    """
    blocks = len(men) if first_index[0] >= 0 else 0
    lanes = 32 if kings else 1
    for block in range(blocks):
        own, opponent = men[block, 0], men[block, 1]
        offset = block_offset(kings, own, opponent_kings, opponent)
        counts = (kings, popcount(own), opponent_kings, popcount(opponent))
        buffers.starts[0, block] = own
        buffers.starts[1, block] = opponent
        buffers.starts[2, block] = successors.start[counts] + offset
        buffers.starts[3, block] = successors.score_start[counts] + offset * lanes
        buffers.starts[5, block] = successors.packed_start[counts] * 32 + offset * lanes
    w = buffers.words
    return Side(
        kings, opponent_kings, blocks,
        BINOMIAL[32, max(kings - 1, 0)], BINOMIAL[32, opponent_kings], lanes,
        buffers.starts[0], buffers.starts[1], buffers.starts[2], buffers.starts[5], buffers.starts[3],
        buffers.starts[4],
        w[0], w[1], w[2], w[3], w[4], w[5], w[6], w[7], w[8], w[9], w[10], w[11], w[12],
        buffers.unruled[0], buffers.unruled[1],
        buffers.value, buffers.dtw, buffers.dtb,
        buffers.strips[0], buffers.strips[1], buffers.touched,
        buffers.event_first, buffers.event_next, buffers.event_word, buffers.event_lanes,
    )  # fmt: skip


make_side = kernel(_make_side)
side_within = inner(_make_side)
