"""A side to move in a batch of blocks: the shape of its words, and all that is known of them while
solving."""

from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from generator.solver.subsets import BINOMIAL
from generator.solver.successors import SuccessorTables, block_offset
from tablebase.kernels.bits import popcount
from tablebase.kernels.jit import inlined, inner, kernel

# Columns are looked at in strips of this many words: two AVX-512 registers, and a fine enough grain to skip
# by.
STRIP = 32
# Kernels whose work threads can share take `part` of `parts`; the whole is the first of one. (numba takes
# plain integers for literals, and compiles such a kernel once more for them.)
FIRST_PART = cast(int, np.int64(0))
ONE_PART = cast(int, np.int64(1))
# Events of losses stand in the slots below this one, those of wins from it on (see
# generator/solver/events.py).
WINS_SLOT = 128


class Side(NamedTuple):
    """One side to move in a batch of blocks: the shape of its words, and room for its state.

    Words stand at [block][row][column]: row = rank of the mover's other kings, column = rank of the
    opponent's kings. A position is decided in one word only, the one whose lane king is its highest king.
    A word has 32 `lanes`, or one for a side without kings.

    Arrays by block: `men`, `opponent_men` (the mover plays up); where the block begins in the after tables:
    `word_start` by number, `first_bit` by bit of `lost` and `won`, `score_start`; and `balance_start` in the
    scores of its tier (see generator/solver/dtb_scores.py).

    Arrays by word: `quiet` lanes without a capture; `open` quiet and undecided; `held` cannot be lost now (an
    exit that is not lost, or one whose distance is not reached); `new_wins`, `new_losses`; `lost`, `won`:
    what its king moves lead to, opponent to move (the opponent's results, scattered here); `rule_win`,
    `rule_safe`, `rule_any`: exits under the rules; `change_win`, `change_safe`, `change_any`: those of them
    that change the balance of forces; `board_win`, `board_safe`: exits on the board, where there are no
    scores to tell (else empty). By lane, uint8 [word * lanes + lane]: `value`, outcome and DTC (see
    generator/solver/results.py); `dtw` (empty without scores); `dtb`, in plies. Where there is no pass to the
    balance change `dtb` is empty, and `change_*` mean nothing.

    By strip, the ply at which it is to be looked at: `lost_changed`, `won_changed`. By [strip][row], the last
    ply at which there were new results: `touched`.
    Events, a linked list for each distance: `event_first` [slot], `event_next`, `event_word`, `event_lanes`.
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
    """Strips of a block; strips are numbered through all blocks of the batch."""
    return (side.columns + STRIP - 1) // STRIP


@inlined
def word_count(side: Side) -> int:
    """Words of a block."""
    return side.rows * side.columns


def strip_buffer() -> NDArray[np.uint32]:
    """Buffers for three strips of words, for one thread."""
    return np.zeros(3 * STRIP, dtype=np.uint32)


class SideBuffers(NamedTuple):
    """One side's arrays (see `Side`), for a batch of blocks; one a thread."""

    starts: NDArray[np.int64]  # [6, blocks]
    words: NDArray[np.uint32]  # [13, most words]
    unruled: NDArray[np.uint32]  # [2, most words]
    value: NDArray[np.uint8]
    dtw: NDArray[np.uint8]
    dtb: NDArray[np.uint8]
    strips: NDArray[np.uint8]  # [2, most strips]
    touched: NDArray[np.uint8]  # [most strips * rows]
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
    """The arrays of one side of the blocks `men` [block, 2]; it has no blocks where `bases` [block] is -1."""
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
