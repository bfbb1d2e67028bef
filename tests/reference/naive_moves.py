"""The rules once more, as naively as can be: every route of every capture, on a dictionary of coordinates.

Shares nothing with `tablebase.board.position`: no bit sets, no memory of what was seen, no merging of
results."""

from collections.abc import Iterator

from tablebase.board.position import Color, Position
from tablebase.board.squares import SQUARE_NAMES

Board = dict[tuple[int, int], str]  # (column, row) -> one of w W b B


def board_of(position: Position) -> Board:
    board = {}
    for letter, squares in zip("wWbB", (position.wm, position.wk, position.bm, position.bk), strict=True):
        for number, name in enumerate(SQUARE_NAMES):
            if squares >> number & 1:
                board["abcdefgh".index(name[0]), int(name[1]) - 1] = letter
    return board


def position_of(board: Board, turn: Color) -> Position:
    sets = dict.fromkeys("wWbB", 0)
    for (column, row), letter in board.items():
        sets[letter] |= 1 << SQUARE_NAMES.index("abcdefgh"[column] + str(row + 1))
    return Position(sets["w"], sets["W"], sets["b"], sets["B"], turn)


def _on_board(column: int, row: int) -> bool:
    return 0 <= column < 8 and 0 <= row < 8


def _crowned(letter: str, row: int) -> str:
    return letter.upper() if row == (7 if letter in "wW" else 0) else letter


def _single_jumps(
    board: Board, at: tuple[int, int], letter: str, taken: list[tuple[int, int]]
) -> Iterator[tuple[tuple[int, int], list[tuple[int, int]]]]:
    for right in (-1, 1):
        for up in (-1, 1):
            column, row = at[0] + right, at[1] + up
            while letter.isupper() and _on_board(column, row) and (column, row) not in board:
                column, row = column + right, row + up
            victim = (column, row)
            if victim not in board or board[victim].lower() == letter.lower() or victim in taken:
                continue
            landings = []
            column, row = column + right, row + up
            while _on_board(column, row) and (column, row) not in board:
                landings.append((column, row))
                if letter.islower():
                    break
                column, row = column + right, row + up
            if landings:
                yield victim, landings


def _routes(
    board: Board, path: list[tuple[int, int]], letter: str, taken: list[tuple[int, int]]
) -> Iterator[tuple[list[tuple[int, int]], str, list[tuple[int, int]]]]:
    jumps = list(_single_jumps(board, path[-1], letter, taken))
    if not jumps:
        if taken:
            yield path, letter, taken
        return
    for victim, landings in jumps:
        goes_on = [
            square
            for square in landings
            if any(_single_jumps(board, square, _crowned(letter, square[1]), [*taken, victim]))
        ]
        for square in goes_on or landings:
            yield from _routes(board, [*path, square], _crowned(letter, square[1]), [*taken, victim])


def routes(position: Position) -> Iterator[tuple[str, Position]]:
    """Every route of every legal move, as its squares joined by `:` or `-`, with the position it leads to."""
    board = board_of(position)
    own = "wW" if position.turn is Color.WHITE else "bB"
    found = []
    for start, letter in board.items():
        if letter in own:
            rest = {square: other for square, other in board.items() if square != start}
            for path, final, taken in _routes(rest, [start], letter, []):
                left = {square: other for square, other in rest.items() if square not in taken}
                found.append((path, ":", {**left, path[-1]: final}))
    if not found:
        for start, letter in board.items():
            if letter in own:
                rest = {square: other for square, other in board.items() if square != start}
                for end in _quiet_ends(board, start, letter):
                    found.append(([start, end], "-", {**rest, end: _crowned(letter, end[1])}))
    for path, sign, after in found:
        text = sign.join("abcdefgh"[column] + str(row + 1) for column, row in path)
        yield text, position_of(after, position.turn.other)


def _quiet_ends(board: Board, start: tuple[int, int], letter: str) -> Iterator[tuple[int, int]]:
    forward = {"w": (1,), "b": (-1,)}.get(letter, (-1, 1))
    for right in (-1, 1):
        for up in forward:
            column, row = start[0] + right, start[1] + up
            while _on_board(column, row) and (column, row) not in board:
                yield column, row
                if letter.islower():
                    break
                column, row = column + right, row + up
