"""The official draw rules told once more, plainly: from the whole list of positions and moves, backward."""

from tablebase.board.position import Color, Move, Piece, Position
from tablebase.board.squares import MAIN_ROAD

Game = tuple[list[Position], list[Move]]


def fired(game: Game, won: bool) -> list[str]:
    """The rules that fire at the last position of a game that has not been won, in the order of the text.

    `won`: whether that position is won on the board for the side that has just moved.
    """
    checks = {
        "king-moves": king_moves(game) >= 30,
        "three-kings": three_kings(game) >= 15,
        "main-road": not won and road_moves(game) >= 5,
        "balance": balance(game),
        "repetition": game[0].count(game[0][-1]) >= 3,
    }
    return [rule for rule, fires in checks.items() if fires]


def kings_and_men(position: Position, color: Color) -> tuple[int, int]:
    if color is Color.WHITE:
        return position.wk.bit_count(), position.wm.bit_count()
    return position.bk.bit_count(), position.bm.bit_count()


def king_moves(game: Game) -> int:
    moves = game[1]
    count = 0
    while count < len(moves) and moves[-1 - count].piece is Piece.KING and not moves[-1 - count].captured:
        count += 1
    return count


def balance_plies(game: Game) -> int:
    moves = game[1]
    count = 0
    while count < len(moves) and not moves[-1 - count].captured and not moves[-1 - count].promotes:
        count += 1
    return count


def balance(game: Game) -> bool:
    position = game[0][-1]
    if not (position.wk and position.bk) or position.pieces > 7:
        return False
    return balance_plies(game) >= {1: 10, 2: 60, 3: 120}[position.pieces // 2]


def three_kings(game: Game) -> int:
    """The strong side's moves since it has three or more kings against one."""
    for strong in Color:
        kings, men = kings_and_men(game[0][-1], strong)
        if kings >= 3 and men == 0 and kings_and_men(game[0][-1], strong.other) == (1, 0):
            since = game[0][len(game[0]) - 1 - balance_plies(game) : -1]
            return sum(before.turn is strong for before in since)
    return 0


def road_moves(game: Game) -> int:
    """The moves of the side that has just moved since the lone king stands on the road; 0 if it does not."""
    positions = game[0]
    strong = positions[-1].turn.other
    count = 0
    for before, after in zip(reversed(positions[:-1]), reversed(positions[1:]), strict=True):
        if not on_the_road(after, strong) or not on_the_road(before, strong):
            break
        count += before.turn is strong
    return count


def on_the_road(position: Position, strong: Color) -> bool:
    kings, men = kings_and_men(position, strong)
    lone_king = position.bk if strong is Color.WHITE else position.wk
    return (
        (kings, men) in [(3, 0), (2, 1), (1, 2)]
        and kings_and_men(position, strong.other) == (1, 0)
        and bool(lone_king & MAIN_ROAD)
    )
