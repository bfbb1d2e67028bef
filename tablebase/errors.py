"""The errors of the library: every one of them is a `TablebaseError`.

Each message says what is wrong, where, and what to do about it. Errors that mirror one of Python's own kinds
are also that kind, so that `except ValueError` around a parser works as a stranger expects.
"""


class TablebaseError(Exception):
    """Anything this library refuses or fails to do."""


class NotationError(TablebaseError, ValueError):
    """A FEN or a move that cannot be read: the message quotes the part that is wrong."""


class IllegalPositionError(TablebaseError, ValueError):
    """Pieces that can stand so in no game: the message names the squares."""


class IllegalMoveError(TablebaseError, ValueError):
    """A move that the rules do not allow in the position it was asked of."""
