"""Sets of squares in plain Python, written independently of the library."""

from math import comb
from random import Random

ALL_LANES = 0xFFFFFFFF


def squares_of(squares: int) -> list[int]:
    return [square for square in range(32) if squares >> square & 1]


def rank(squares: int) -> int:
    return sum(comb(square, size) for size, square in enumerate(squares_of(squares), 1))


def set_of(random: Random, size: int, among: int) -> int:
    return sum(1 << square for square in random.sample(squares_of(among), size))


def between(square: int, target: int) -> int:
    """Return the squares between two squares of one diagonal."""
    (row, column), (to_row, to_column) = coordinates(square), coordinates(target)
    steps = abs(to_row - row)
    assert steps == abs(to_column - column)
    found = 0
    for step in range(1, steps):
        r, c = row + (to_row - row) // steps * step, column + (to_column - column) // steps * step
        found |= 1 << r * 4 + c // 2
    return found


def coordinates(square: int) -> tuple[int, int]:
    return square // 4, 2 * (square % 4) + square // 4 % 2
