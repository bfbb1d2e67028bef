"""Random positions for tests: a hypothesis strategy, and a plain generator for large seeded samples."""

from random import Random

from hypothesis import strategies as st

from tablebase.board.position import Color, Position
from tablebase.board.squares import FIRST_ROW, LAST_ROW


def _build(squares: list[int], kinds: list[int], turn: Color) -> Position:
    sets = [0, 0, 0, 0]
    for square, kind in zip(squares, kinds, strict=True):
        bit = 1 << square
        if (kind == 0 and bit & LAST_ROW) or (kind == 2 and bit & FIRST_ROW):
            kind += 1
        sets[kind] |= bit
    wm, wk, bm, bk = sets
    return Position(wm, wk, bm, bk, turn)


@st.composite
def positions(draw: st.DrawFn, max_pieces: int = 24) -> Position:
    squares = draw(st.lists(st.integers(0, 31), unique=True, max_size=max_pieces))
    kinds = draw(st.lists(st.integers(0, 3), min_size=len(squares), max_size=len(squares)))
    return _build(squares, kinds, draw(st.sampled_from(Color)))


def random_positions(count: int, seed: int, max_pieces: int = 24) -> list[Position]:
    """Positions in which both sides have pieces; few pieces are as likely as many."""
    random = Random(seed)
    found: list[Position] = []
    while len(found) < count:
        squares = random.sample(range(32), random.randint(2, max_pieces))
        king_share = random.random()
        kinds = [2 * random.randrange(2) + (random.random() < king_share) for _ in squares]
        position = _build(squares, kinds, random.choice(list(Color)))
        if position.wm | position.wk and position.bm | position.bk:
            found.append(position)
    return found
