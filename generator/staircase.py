"""Wins that keep either count of moves, but not both at once; and the exact DTB of all others.

A win under the rules must reach a zeroing move before the king moves have run out, and a capture or promotion
before the count of the balance has. What a position needs of the one depends on what is left of the other: a
staircase. DTB is its first step: the plies of the balance that a position needs while its king moves are
fresh. This file works it out in a solved slice and its mirror, where the pass to the balance change
(`spread_balance`), which does not look at king moves, has found a lower bound; and so it finds the positions
that are won (or lost) under the king-moves rule, and are drawn under both, as no DTB within the limit wins
them.

It needs three facts about each position: DTC, the least that any win needs of king moves; the bound of DTB;
and, for the way of playing that is shortest to the balance change, the king moves which that way needs
(`bound`). They decide most positions: the bound is the DTB where no more king moves can be played in so many
plies, or that way needs no more. The others, the *hard* ones, are searched for rising plies of the balance:
from the position on ply by ply, all together. Each ply takes one of the balance count, so the positions of a
ply with what is left of king moves are a *layer*, and layers are decided from the last to the first. A man's
move gives fresh king moves, with less of the balance left than is searched for: what comes after it is known.
"""

import numpy as np
from numpy.typing import NDArray

from generator.results import NOT_DECIDED, Results, distances, outcomes
from tablebase.kernels.bits import popcount, reverse, signed
from tablebase.kernels.jit import inlined, kernel
from tablebase.kernels.movegen import new_buffer, successors
from tablebase.kernels.scalarindex import Layout, layout_of, sets_at, slot_of
from tablebase.material import Material

# A position so close to a balance change takes that many king moves at the most: `bound` is not worked out
# there.
_CLOSE = 20
_NEVER = 255
_NOT_WON, _WON, _OPEN = 0, 1, 2
# A node of a layer is slot * _KINGS + the king moves left.
_KINGS = 64


@inlined
def _same_balance(layout: Layout, which: int, men: int, kings: int, other_men: int, other_kings: int) -> bool:
    """Whether a successor of slice `which`, as the next side to move sees it, has the same pieces on the
    board."""
    return bool(
        popcount(kings) == layout.counts[which, 2]
        and popcount(men) == layout.counts[which, 3]
        and popcount(other_kings) == layout.counts[which, 0]
        and popcount(other_men) == layout.counts[which, 1]
    )


@kernel
def _fill_bounds(
    layout: Layout,
    slots: NDArray[np.int64],
    won: NDArray[np.bool_],
    dtb: NDArray[np.uint8],
    king_limit: int,
    bounds: NDArray[np.uint8],
    buffer: NDArray[np.int64],
) -> None:
    """`bounds` of some slots, in rising order of DTB: king moves that are enough when the winner goes the
    shortest way to the balance change, whatever the loser does; _NEVER where that way breaks the king-moves
    rule."""
    for slot in slots:
        which = 0 if slot < layout.start[1] else 1
        men, kings, other_men, other_kings = sets_at(layout, which, slot - layout.start[which])
        count = successors(men, kings, other_men, other_kings, buffer)
        needed = _NEVER if won[slot] else 0
        for i in range(abs(count)):
            a, b, c, d = buffer[i, 0], buffer[i, 1], buffer[i, 2], buffer[i, 3]
            if not _same_balance(layout, which, a, b, c, d):
                if not won[slot]:
                    needed = max(needed, 1)
                continue
            after = slot_of(layout, a, b, c, d)
            if won[slot] and (won[after] or dtb[after] != dtb[slot] - 1):
                continue
            here = signed(bounds[after])
            man_moved = reverse(c) != men
            if man_moved and here <= king_limit:
                here = 1
            elif not man_moved and here < _NEVER:
                here += 1
            else:
                here = _NEVER
            needed = min(needed, here) if won[slot] else max(needed, here)
        bounds[slot] = needed


@inlined
def _at_once(
    slot: int,
    kings: int,
    fresh: bool,
    balance: int,
    bounds: NDArray[np.uint8],
    dtc: NDArray[np.uint8],
    dtb: NDArray[np.uint8],
) -> int:
    """What is known of a position with so much left of both counts, where every DTB up to `balance` is
    exact, and the greater ones are greater."""
    if dtb[slot] > balance or dtc[slot] > kings:
        return _NOT_WON
    return _WON if fresh or bounds[slot] <= kings else _OPEN


@kernel
def _look(
    layout: Layout,
    nodes: NDArray[np.int64],
    balance: int,
    king_limit: int,
    won: NDArray[np.bool_],
    bounds: NDArray[np.uint8],
    dtc: NDArray[np.uint8],
    dtb: NDArray[np.uint8],
    next_nodes: NDArray[np.int64],
    next_won: NDArray[np.bool_],
    decide: bool,
    out: NDArray[np.int64],
    out_won: NDArray[np.bool_],
    buffer: NDArray[np.int64],
) -> int:
    """One layer, with `balance` plies left. To `decide` it, `next_nodes` (sorted) and `next_won` are the
    layer after it, and `out_won` takes the results. Otherwise `out` takes the nodes that it leads to and that
    are open; returns how many, or -1 where there is no more room."""
    found = 0
    for n in range(len(nodes)):
        slot, kings = nodes[n] // _KINGS, nodes[n] % _KINGS
        winner = won[slot]
        which = 0 if slot < layout.start[1] else 1
        men, own_kings, other_men, other_kings = sets_at(layout, which, slot - layout.start[which])
        count = successors(men, own_kings, other_men, other_kings, buffer)
        result = not winner
        begin = found
        for i in range(abs(count)):
            a, b, c, d = buffer[i, 0], buffer[i, 1], buffer[i, 2], buffer[i, 3]
            if not _same_balance(layout, which, a, b, c, d):
                continue  # the winner would have DTB 1, and the loser loses by it as by any move
            after = slot_of(layout, a, b, c, d)
            if won[after] == winner or dtc[after] == NOT_DECIDED:
                if winner:
                    continue
                state = _NOT_WON
            else:
                man_moved = reverse(c) != men
                left = king_limit if man_moved else kings - 1
                state = _at_once(after, left, man_moved, balance - 1, bounds, dtc, dtb)
                if state == _OPEN:
                    node = after * _KINGS + left
                    if decide:
                        state = _WON if next_won[np.searchsorted(next_nodes, node)] else _NOT_WON
                    else:
                        if found == len(out):
                            return -1
                        out[found] = node
                        found += 1
            if state == (_WON if winner else _NOT_WON):
                result = winner
                found = begin  # decided at once: what was to be looked at need not be
                break
        if decide:
            out_won[n] = result
    return found


class _Search:
    def __init__(self, pair: Material, results: tuple[Results, Results], king_limit: int) -> None:
        both = results[:1] if pair == pair.mirror else results
        self.layout = layout_of([pair, pair.mirror][: len(both)])
        self._king_limit = king_limit
        self._dtc = np.concatenate([distances(part) for part in both])
        self.dtb = np.concatenate([part.dtb for part in both])
        self.under_kings_rule = self._dtc != NOT_DECIDED
        self._won = self.under_kings_rule & (np.concatenate([outcomes(part) for part in both]) > 0)
        self._buffer = new_buffer()
        self._bounds = np.where(self.under_kings_rule, self.dtb, np.uint8(_NEVER)).astype(np.uint8)
        far = np.flatnonzero(self.under_kings_rule & (self.dtb > _CLOSE) & (self.dtb != NOT_DECIDED))
        order = far[np.argsort(self.dtb[far], kind="stable")]
        _fill_bounds(self.layout, order, self._won, self.dtb, king_limit, self._bounds, self._buffer)

    def find_dtb(self, balance_limit: int) -> None:
        """Make `dtb` exact up to `balance_limit` plies, and greater than that where none of them wins."""
        hard = np.flatnonzero(self.under_kings_rule & (self._bounds > self._king_limit))
        for balance in range(int(self.dtb[hard].min(initial=_NEVER)), balance_limit + 1):
            failing = self._failing(hard[self.dtb[hard] == balance], balance)
            self.dtb[failing] = balance + 1

    def _failing(self, slots: NDArray[np.int64], balance: int) -> NDArray[np.int64]:
        """Of some hard slots, those that are not won (or lost) from fresh counts of king moves and `balance`
        plies. Every smaller DTB must be exact."""
        layers = [np.unique(slots * _KINGS + self._king_limit)]
        while len(layers[-1]):
            layers.append(self._next(layers[-1], balance - len(layers) + 1))
        won = np.zeros(0, np.bool_)
        for ply in range(len(layers) - 2, -1, -1):
            won = self._decide(layers[ply], balance - ply, layers[ply + 1], won)
        return layers[0][~won] // _KINGS

    def _next(self, nodes: NDArray[np.int64], balance: int) -> NDArray[np.int64]:
        room = 16 * len(nodes) + 4096
        while True:
            out = np.empty(room, np.int64)
            found = self._look(
                nodes, balance, nodes[:0], np.zeros(0, np.bool_), False, out, np.zeros(0, np.bool_)
            )
            if found >= 0:
                return np.unique(out[:found])
            room *= 4

    def _decide(
        self, nodes: NDArray[np.int64], balance: int, after: NDArray[np.int64], after_won: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        won = np.zeros(len(nodes), np.bool_)
        self._look(nodes, balance, after, after_won, True, nodes[:0], won)
        return won

    def _look(
        self,
        nodes: NDArray[np.int64],
        balance: int,
        after: NDArray[np.int64],
        after_won: NDArray[np.bool_],
        decide: bool,
        out: NDArray[np.int64],
        out_won: NDArray[np.bool_],
    ) -> int:
        return _look(
            self.layout,
            nodes,
            balance,
            self._king_limit,
            self._won,
            self._bounds,
            self._dtc,
            self.dtb,
            after,
            after_won,
            decide,
            out,
            out_won,
            self._buffer,
        )


def count_both(
    pair: Material, results: tuple[Results, Results], king_limit: int, balance_limit: int
) -> list[NDArray[np.int64]]:
    """Make the DTB of a solved material and its mirror exact where they have a DTC (elsewhere it means
    nothing), and find the positions that have a DTC and are drawn under both counts.

    Args:
        pair: a material in which both sides have kings, with men on the board.
        results: its values, with DTB to `balance_limit` plies, the king-moves rule left aside.
        king_limit: plies in a row of king moves, at most 63.
        balance_limit: plies from one capture or promotion to the next.

    Returns:
        Their indices, for each of the two slices (one where they are the same).
    """
    both = results[:1] if pair == pair.mirror else results
    if not any(
        np.any((distances(r) != NOT_DECIDED) & (r.dtb > min(king_limit, balance_limit))) for r in both
    ):
        return [np.zeros(0, np.int64) for _ in both]
    search = _Search(pair, results, king_limit)
    search.find_dtb(balance_limit)
    start = search.layout.start
    drawn = []
    for number, part in enumerate(both):
        part.dtb[:] = search.dtb[start[number] : start[number + 1]]
        drawn.append(np.flatnonzero((distances(part) != NOT_DECIDED) & (part.dtb > balance_limit)))
    return drawn


def compile_search() -> None:
    """Have the search's kernels compiled, or loaded, in the calling thread."""
    lone_kings = Material(1, 0, 1, 0)
    nothing = Results(*(np.full(lone_kings.positions, NOT_DECIDED, np.uint8) for _ in range(3)))
    search = _Search(lone_kings, (nothing, nothing), 1)
    search._next(np.zeros(0, np.int64), 1)
