"""Words of the after tables whose outcome on the board is another than under the rules.

Without DTW the after tables hold outcomes under the rules alone, and those on the board are the same but for
cursed wins and blessed losses, which are few. So only the words that hold one are listed, with what is lost
and won in them on the board. A guard, a byte for 256 words, says where it is worth looking.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from tablebase.kernels.jit import inner

GUARD_SHIFT = 8


class BoardWords(NamedTuple):
    """Words of the after tables, by number, each with its lanes lost and won on the board."""

    words: NDArray[np.int64]
    lost: NDArray[np.uint32]
    won: NDArray[np.uint32]


def room_for(count: int) -> BoardWords:
    """Room for so many."""
    return BoardWords(np.zeros(count, np.int64), np.zeros(count, np.uint32), np.zeros(count, np.uint32))


def guard_of(words: int) -> NDArray[np.uint8]:
    """A guard for so many words, none of which is listed."""
    return np.zeros((words >> GUARD_SHIFT) + 1, np.uint8)


@inner
def find(numbers: NDArray[np.int64], word: int) -> int:
    """Where a word stands in a sorted list; -1 if it does not."""
    at, end = 0, len(numbers)
    while at < end:
        middle = (at + end) // 2
        if numbers[middle] < word:
            at = middle + 1
        else:
            end = middle
    return at if at < len(numbers) and numbers[at] == word else -1


def with_more(listed: BoardWords, guard: NDArray[np.uint8], more: list[BoardWords]) -> BoardWords:
    """The sorted list with these besides, of which the last one of a word counts; `guard` is kept true."""
    # The list may be long, and what comes to it is little: it is not sorted again.
    words = np.concatenate([part.words for part in more])[::-1]
    words, last = np.unique(words, return_index=True)
    lost = np.concatenate([part.lost for part in more])[::-1][last]
    won = np.concatenate([part.won for part in more])[::-1][last]
    guard[words >> GUARD_SHIFT] = 1
    begin, end = (np.searchsorted(listed.words, words, side) for side in ("left", "right"))
    gone = begin[begin < end]
    left = np.delete(listed.words, gone), np.delete(listed.lost, gone), np.delete(listed.won, gone)
    at = np.searchsorted(left[0], words)
    return BoardWords(
        np.insert(left[0], at, words), np.insert(left[1], at, lost), np.insert(left[2], at, won)
    )


def without(listed: BoardWords, guard: NDArray[np.uint8], first: int, last: int) -> BoardWords:
    """The sorted list without the words `first` to `last` - 1; `guard` is kept true."""
    begin, end = np.searchsorted(listed.words, (first, last))
    if begin == end:
        return listed
    left = BoardWords(
        np.concatenate((listed.words[:begin], listed.words[end:])),
        np.concatenate((listed.lost[:begin], listed.lost[end:])),
        np.concatenate((listed.won[:begin], listed.won[end:])),
    )
    guard[first >> GUARD_SHIFT : (last >> GUARD_SHIFT) + 1] = 0
    guard[left.words >> GUARD_SHIFT] = 1
    return left


def on_board(listed: BoardWords, words: NDArray[np.int64], rules: BoardWords) -> BoardWords:
    """What `words` are on the board, where `rules` says what they are under the rules."""
    lost, won = rules.lost.copy(), rules.won.copy()
    begin, end = (np.searchsorted(listed.words, words, side) for side in ("left", "right"))
    there = begin < end
    lost[there], won[there] = listed.lost[begin[there]], listed.won[begin[there]]
    return BoardWords(words, lost, won)
