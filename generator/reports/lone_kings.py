"""The rules on lone kings, counted over every position of the tables.

The question is that of `tablebase.games.lone_kings`, which searches from one position. The stronger side
plays only moves that keep its win without draw rules; the lone king plays any legal move. A main-road case
ends when the lone king leaves the road, is captured, has no move, or captures a piece. Here retrograde
analysis (Thompson) starts from the ends of the cases and goes back one move of the stronger side at a time.
Moves and indices are those of the verifier; nothing is shared with the search.

The stronger side is always to move. "Won" means won without draw rules.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from generator.materials import capture_closure, require_tables
from generator.verify.derive import ValueArrays
from generator.verify.values import InMemoryValues
from tablebase.board.material import Material
from tablebase.board.position import Position
from tablebase.board.squares import MAIN_ROAD
from tablebase.errors import DamagedTableError
from tablebase.kernels.index import Layout, sets_at, slot_of
from tablebase.kernels.jit import inlined, kernel
from tablebase.kernels.movegen import has_capture, new_buffer, successors
from tablebase.rules.ruleset import Limit, RuleName
from tablebase.rules.rulesets import OFFICIAL, ROAD_WITH_THREE_MEN, Ruleset
from tablebase.tables.format import Metric
from tablebase.tables.manifest import Manifest

_OUTSIDE = 255  # not a main-road case
_NOT_WON = 254  # a case that the stronger side does not win
_OPEN = 253  # a case that is won and not decided yet
MOST_MOVES = 252
"""The greatest number of moves that the retrograde analysis can count."""

ON_ROAD, QUIET = 1, 2
"""Bits of `features`: the lone king is on the main road; neither side could capture if it were to move."""


@kernel
def features(layout: Layout, slice_id: int, lone_to_move: bool) -> NDArray[np.uint8]:
    """Return the features of each position of a slice with a lone king.

    Args:
        layout: the slices.
        slice_id: the slice.
        lone_to_move: whether the lone king's side is to move.

    Returns:
        shape (positions,), uint8: bits ON_ROAD and QUIET, by index.
    """
    found = np.zeros(layout.start[slice_id + 1] - layout.start[slice_id], np.uint8)
    for index in range(len(found)):
        own_men, own_kings, other_men, other_kings = sets_at(layout, slice_id, index)
        if (own_kings if lone_to_move else other_kings) & MAIN_ROAD:
            found[index] |= ON_ROAD
        # Captures go in all four directions, so the other side's captures need no turned board.
        if not has_capture(own_men, own_kings, other_men, other_kings) and not has_capture(
            other_men, other_kings, own_men, own_kings
        ):
            found[index] |= QUIET
    return found


@inlined
def _slot_after(layout: Layout, after: NDArray[np.int64]) -> int:
    return slot_of(layout, after[0], after[1], after[2], after[3])


@kernel
def _decide_stronger(
    layout: Layout, needed: NDArray[np.uint8], slice_id: int, moves: int, buffer: NDArray[np.int64]
) -> int:
    """Decide the positions with the stronger side to move in which `moves` moves are enough.

    Returns:
        The number of positions decided.
    """
    decided = 0
    start = layout.start[slice_id]
    for slot in range(start, layout.start[slice_id + 1]):
        if needed[slot] != _OPEN:
            continue
        own_men, own_kings, other_men, other_kings = sets_at(layout, slice_id, slot - start)
        count = successors(own_men, own_kings, other_men, other_kings, buffer)
        for row in range(count):
            captured = buffer[row, 0] | buffer[row, 1] == 0
            # A move that gives up the win leads to a greater number too: _NOT_WON.
            if captured or needed[_slot_after(layout, buffer[row])] < moves:
                needed[slot] = moves
                decided += 1
                break
    return decided


@kernel
def _decide_lone(
    layout: Layout, needed: NDArray[np.uint8], slice_id: int, moves: int, buffer: NDArray[np.int64]
) -> None:
    """Decide the positions with the lone king to move in which `moves` moves are enough."""
    start = layout.start[slice_id]
    for slot in range(start, layout.start[slice_id + 1]):
        if needed[slot] != _OPEN:
            continue
        own_men, own_kings, other_men, other_kings = sets_at(layout, slice_id, slot - start)
        count = successors(own_men, own_kings, other_men, other_kings, buffer)
        stays = False
        for row in range(count):
            after = _slot_after(layout, buffer[row])
            # A lost king cannot capture the last piece. If it does, the tables are wrong: leave it open.
            if after < 0 or (needed[after] > moves and needed[after] != _OUTSIDE):
                stays = True
                break
        if not stays:
            needed[slot] = moves


def main_road_retrograde(
    arena: ValueArrays, stronger: Sequence[int], lone: Sequence[int], on_road: Sequence[NDArray[np.bool_]]
) -> NDArray[np.uint8]:
    """Return the least number of the stronger side's moves that force the end of a main-road case, by slot.

    Args:
        arena: the outcomes, with those of capture positions.
        stronger: the slices of the rule's materials, the stronger side to move, with the slices that
            promotions lead to.
        lone: their mirrors, the lone king to move.
        on_road: for each slice of `stronger`, then of `lone`: shape (positions,), bool, whether the lone king
            is on the road.

    Returns:
        shape (slots,), uint8. A number above MOST_MOVES means that there is no case, or that the stronger
        side does not win it.

    Raises:
        DamagedTableError: no play ends a case that is won, so the tables contradict each other.
    """
    layout = arena.layout
    needed = np.full(int(layout.start[-1]), _OUTSIDE, np.uint8)
    for slice_id, on in zip((*stronger, *lone), on_road, strict=True):
        span = slice(int(layout.start[slice_id]), int(layout.start[slice_id + 1]))
        won = arena.wdl[span] > 0 if slice_id in stronger else arena.wdl[span] < 0
        needed[span][on] = np.where(won[on], _OPEN, _NOT_WON)
    buffer = new_buffer()
    moves = 0
    for slice_id in lone:
        _decide_lone(layout, needed, slice_id, moves, buffer)
    while (needed == _OPEN).any():
        moves += 1
        decided = sum(_decide_stronger(layout, needed, slice_id, moves, buffer) for slice_id in stronger)
        for slice_id in lone:
            _decide_lone(layout, needed, slice_id, moves, buffer)
        if not decided or moves == MOST_MOVES:
            left = int(np.count_nonzero(needed == _OPEN))
            raise DamagedTableError(
                f"the tables contradict each other: from {left:,} won positions with a lone king on the main "
                "road no play ends the case; check the tables with `shashki verify`"
            )
    return needed


_FEWEST = 4  # pieces: three against one

_SETS_OF_RULES = (OFFICIAL, ROAD_WITH_THREE_MEN)
"""Rulesets in which a rule on a material is searched, in this order."""


@dataclass(frozen=True)
class Tally:
    """Positions of a material with the lone king on the main road, or off it, by outcome without draw rules.

    Attributes:
        positions: their number, the sum of the next three.
        won: the number that the stronger side wins.
        drawn: the number of draws.
        lost: the number that the stronger side loses.
        longest_win_moves: the most moves of the stronger side that a win takes to the end of the game; None
            without a win.
        longest_win_fen: a position that takes as many moves; None without a win.
        wins_beyond_road_limit: the number of wins that take more moves to the end of the game than the
            main-road rule allows; None if the rule is not about the material.
        drawn_quiet: the number of draws in which neither side could capture if it were to move.
        drawn_fen: a drawn position, a quiet one if there is one; None without a draw.
    """

    positions: int
    won: int
    drawn: int
    lost: int
    longest_win_moves: int | None
    longest_win_fen: str | None
    wins_beyond_road_limit: int | None
    drawn_quiet: int
    drawn_fen: str | None


@dataclass(frozen=True)
class MoveLimit:
    """The moves that a rule allows the stronger side, and the moves that its wins need.

    Attributes:
        ruleset: the name of a ruleset that has the rule for this material.
        article: the rule's article.
        limit_moves: the number of the stronger side's moves that the rule allows.
        wins: the number of positions under the rule that the stronger side, to move, wins without draw rules.
        wins_by_moves: the number of these that need 1 move, 2 moves, and so on.
        beyond_limit: the number of these that need more moves than the limit.
        longest_moves: the most moves that one of them needs; None without a win.
        longest_fen: a position that needs as many moves; None without a win.
    """

    ruleset: str
    article: str
    limit_moves: int
    wins: int
    wins_by_moves: list[int]
    beyond_limit: int
    longest_moves: int | None
    longest_fen: str | None


@dataclass(frozen=True)
class LoneKing:
    """A material against a lone king, the stronger side to move.

    Attributes:
        material: the slice, as text.
        on_road: positions with the lone king on the main road a1-h8.
        off_road: all other positions.
        three_kings: the rule on three kings or more, moves counted to the end of the game; None if no such
            rule is about the material.
        main_road: the rule on the main road; None if no such rule is about the material. Moves are counted
            until the lone king is off the road, captured or blocked, or has captured a piece.
    """

    material: str
    on_road: Tally
    off_road: Tally
    three_kings: MoveLimit | None
    main_road: MoveLimit | None


def find_rule(material: Material, name: RuleName) -> tuple[Ruleset, Limit] | None:
    """Return the rule of a kind on this material against a lone king, with a ruleset that has it, or None."""
    for ruleset in _SETS_OF_RULES:
        rule = ruleset.rule(name)
        for limit in rule.limits if rule else ():
            forces = limit.scope.against_lone_king or ()
            if any(force.fits(material.own_kings, material.own_men) for force in forces):
                return ruleset, limit
    return None


def _limit_moves(material: Material, name: RuleName) -> int | None:
    found = find_rule(material, name)
    return None if found is None else found[1].thresholds[0][1]


def lone_king_materials(pieces: int) -> list[Material]:
    """Return the materials of 4 to `pieces` pieces that a rule on a lone king is about, fewer men first."""
    every = (
        Material(count - 1 - men, men, 1, 0) for count in range(_FEWEST, pieces + 1) for men in range(count)
    )
    return [
        material
        for material in every
        if find_rule(material, RuleName.THREE_KINGS) or find_rule(material, RuleName.MAIN_ROAD)
    ]


def tables_needed(manifest: Manifest, pieces: int) -> set[Material]:
    """Return the slices that `LoneKings` needs.

    Raises:
        MissingTableError: a table is missing, or has no DTW; the message names it.
    """
    needed = capture_closure(lone_king_materials(pieces))
    for metric in (Metric.WDL, Metric.DTW):
        require_tables(manifest, needed, metric, "counting positions against a lone king")
    return needed


class LoneKings:
    """Counts of the positions against a lone king, by material.

    Args:
        values: outcomes and DTW of the slices of `tables_needed`, with those of capture positions.
        pieces: the greatest number of pieces.

    Raises:
        DamagedTableError: the tables contradict each other.
    """

    def __init__(self, values: InMemoryValues, pieces: int) -> None:
        self._values = values
        self._arena = values.arena
        self._materials = lone_king_materials(pieces)
        self._features = {
            material: features(self._arena.layout, values.slice_id(material), lone)
            for each in self._materials
            for material, lone in ((each, False), (each.mirror, True))
        }
        of_the_road = [each for each in self._materials if find_rule(each, RuleName.MAIN_ROAD)]
        mirrors = [each.mirror for each in of_the_road]
        self._off_the_road = main_road_retrograde(
            self._arena,
            [values.slice_id(material) for material in of_the_road],
            [values.slice_id(material) for material in mirrors],
            [self._on_road(material) for material in (*of_the_road, *mirrors)],
        )

    def __iter__(self) -> Iterator[LoneKing]:
        """Yield the counts of each material."""
        for material in self._materials:
            on_road = self._on_road(material)
            span = self._span(material)
            moves_to_end = (self._arena.dtw[span].astype(np.int64) + 1) // 2
            yield LoneKing(
                str(material),
                self._tally(material, moves_to_end, on_road),
                self._tally(material, moves_to_end, ~on_road),
                self._move_limit(material, RuleName.THREE_KINGS, moves_to_end, np.ones_like(on_road)),
                self._move_limit(material, RuleName.MAIN_ROAD, self._off_the_road[span], on_road),
            )

    def _span(self, material: Material) -> slice:
        slice_id = self._values.slice_id(material)
        start = self._arena.layout.start
        return slice(int(start[slice_id]), int(start[slice_id + 1]))

    def _on_road(self, material: Material) -> NDArray[np.bool_]:
        on_road: NDArray[np.bool_] = self._features[material] & ON_ROAD != 0
        return on_road

    def _tally(self, material: Material, moves: NDArray[np.int64], among: NDArray[np.bool_]) -> Tally:
        """Return the tally of the positions `among`; `moves` are those to the end of the game."""
        wdl = self._arena.wdl[self._span(material)]
        won, drawn, lost = wdl > 0, wdl == 0, wdl < 0
        limit = _limit_moves(material, RuleName.MAIN_ROAD)
        longest, longest_fen = self._longest(material, moves, won & among)
        quiet = drawn & among & (self._features[material] & QUIET != 0)
        example = quiet if quiet.any() else drawn & among
        return Tally(
            positions=int(among.sum()),
            won=int((won & among).sum()),
            drawn=int((drawn & among).sum()),
            lost=int((lost & among).sum()),
            longest_win_moves=longest,
            longest_win_fen=longest_fen,
            wins_beyond_road_limit=None if limit is None else int((won & among & (moves > limit)).sum()),
            drawn_quiet=int(quiet.sum()),
            drawn_fen=self._fen(material, int(example.argmax())) if example.any() else None,
        )

    def _move_limit(
        self, material: Material, name: RuleName, moves: NDArray[np.integer], among: NDArray[np.bool_]
    ) -> MoveLimit | None:
        """Return what a rule allows and wins need, or None without a rule.

        Args:
            material: the slice.
            name: the rule.
            moves: [position], the stronger side's moves that a win needs.
            among: [position], the positions to count.
        """
        found = find_rule(material, name)
        if found is None:
            return None
        ruleset, limit = found
        limit_moves = limit.thresholds[0][1]
        wins = among & (self._arena.wdl[self._span(material)] > 0)
        longest, longest_fen = self._longest(material, moves, wins)
        return MoveLimit(
            ruleset=ruleset.name,
            article=limit.article,
            limit_moves=limit_moves,
            wins=int(wins.sum()),
            wins_by_moves=np.bincount(moves[wins], minlength=1)[1:].tolist(),
            beyond_limit=int((moves[wins] > limit_moves).sum()),
            longest_moves=longest,
            longest_fen=longest_fen,
        )

    def _longest(
        self, material: Material, moves: NDArray[np.integer], wins: NDArray[np.bool_]
    ) -> tuple[int | None, str | None]:
        if not wins.any():
            return None, None
        index = int(np.where(wins, moves, 0).argmax())
        return int(moves[index]), self._fen(material, index)

    def _fen(self, material: Material, index: int) -> str:
        return Position(*sets_at(self._arena.layout, self._values.slice_id(material), index)).to_fen()
