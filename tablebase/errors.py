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


class CounterError(TablebaseError, ValueError):
    """A counter of a draw rule that is no count: the message names it."""


class ArgumentError(TablebaseError, ValueError):
    """An argument that makes no sense, by itself or beside another one: the message says why."""


class RulesetError(TablebaseError, KeyError):
    """A name that is no ruleset: the message lists those there are."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""  # a KeyError would show its message quoted


class MaterialError(TablebaseError, ValueError):
    """A text or counts that are no material: the message says what one looks like."""


class MissingTableError(TablebaseError, KeyError):
    """A position whose table is not there: the message names the table and the command that makes it."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""  # a KeyError would show its message quoted


class TooManyPiecesError(MissingTableError):
    """A position with more pieces than the tables hold: the message says how many they hold."""


class NoSuchPositionError(TablebaseError, LookupError):
    """A random position of a kind that there is none of."""


class TooRareError(TablebaseError, LookupError):
    """A random position of a kind so rare that none was found within the effort allowed."""


class MissingPackageError(TablebaseError, ImportError):
    """A package that an optional part of the library needs and that is not installed."""


class ClosedError(TablebaseError, ValueError):
    """A table or a tablebase that was asked after it had been closed."""


class DataDirectoryError(TablebaseError, OSError):
    """A data directory that is not there or is no directory."""


class GameFileError(TablebaseError, OSError):
    """A file of games that is not there or cannot be read: the message names it and says why."""


class TableError(TablebaseError):
    """A table file or a manifest that cannot be used: the message names the file."""


class NotATableError(TableError):
    """A file that is no table of this project at all, or what has the name of a table and is no file."""


class WrongVersionError(TableError):
    """A table or manifest of another format version, or made under other rules: generate again."""


class TruncatedTableError(TableError):
    """A table file that ends before, or goes on after, the length its header gives."""


class DamagedTableError(TableError):
    """A table file whose bytes are not those that were written."""


class DamagedHeaderError(DamagedTableError):
    """Damage in the header, the alphabet or the frame index of a table file."""


class DamagedFrameError(DamagedTableError):
    """Damage in one frame of a table file: the message gives the frame's number."""


class ManifestError(TableError):
    """A manifest that is missing, or that is not one."""


def quote(text: str, longest: int = 60) -> str:
    """The text as a message shows it: in quotes, escaped, and cut after `longest` characters."""
    return repr(text) if len(text) <= longest else repr(text[:longest]) + "..."
