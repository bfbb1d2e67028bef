"""The alpha-beta player of py-draughts as a process of its own, for benchmarks/match.py.

PYTHON benchmarks/alphabeta.py DEPTH

PYTHON has py-draughts (1.8.4 or later; its module is `draughts`, as pydraughts' is, so that one environment
cannot have both). Lines of the standard input are `new FEN`, `play MOVE` and `go`; `go` is answered by a
move, which it makes. Moves are those of the Hub protocol, squares are numbers that begin at b8: as py-
draughts' own functions have them.
"""

import sys

from draughts import RussianBoard, SimpleEngine
from draughts.engines.hub import move_to_hub_notation, parse_hub_move
from loguru import logger


def main() -> None:
    logger.remove()  # it tells each move that it finds
    depth = int(sys.argv[1])
    board, engine = RussianBoard(), SimpleEngine(depth_limit=depth)
    for line in sys.stdin:
        command, _, rest = line.strip().partition(" ")
        if command == "new":
            board, engine = RussianBoard.from_fen(rest), SimpleEngine(depth_limit=depth)
        elif command == "play":
            board.push(parse_hub_move(rest, board.legal_moves))
        elif command == "go":
            move = engine.get_best_move(board)
            print(move_to_hub_notation(move), flush=True)
            board.push(move)


if __name__ == "__main__":
    main()
