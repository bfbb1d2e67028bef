"""Errors of the library, all subclasses of `TablebaseError`.

Each message says what is wrong, where, and what to do. An error that corresponds to a built-in one is also a
subclass of that, so that `except ValueError` around a parser works as usual.
"""


class TablebaseError(Exception):
    """Base class of all errors of this library."""


class NotationError(TablebaseError, ValueError):
    """Invalid text of a FEN or a move; the message quotes the wrong part."""


class IllegalPositionError(TablebaseError, ValueError):
    """A placement of pieces that no game can have; the message names the squares."""


class IllegalMoveError(TablebaseError, ValueError):
    """A move that the rules of the game do not allow in its position."""


class CounterError(TablebaseError, ValueError):
    """An invalid counter of a draw rule; the message names the counter."""


class ArgumentError(TablebaseError, ValueError):
    """An invalid argument, or invalid combination of arguments; the message says why."""


class RulesetError(TablebaseError, KeyError):
    """An unknown name of a ruleset; the message lists the rulesets."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""  # a KeyError shows its message in quotes


class MaterialError(TablebaseError, ValueError):
    """Invalid text or counts of a material; the message shows a valid one."""


class MissingTableError(TablebaseError, KeyError):
    """A table that is needed but missing; the message names it and the command that makes it."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""  # a KeyError shows its message in quotes


class TooManyPiecesError(MissingTableError):
    """A position with more pieces than the tables have; the message gives their number."""


class NoSuchPositionError(TablebaseError, LookupError):
    """A request for a random position of a kind that does not exist."""


class TooRareError(TablebaseError, LookupError):
    """A request for a random position of a kind too rare to be found within the allowed effort."""


class MissingPackageError(TablebaseError, ImportError):
    """An optional part of the library needs a package that is not installed."""


class ClosedError(TablebaseError, ValueError):
    """Use of a table or tablebase after it was closed."""


class DataDirectoryError(TablebaseError, OSError):
    """A data directory that does not exist or is not a directory."""


class GameFileError(TablebaseError, OSError):
    """A file of games that does not exist or cannot be read; the message says why."""


class TableError(TablebaseError):
    """A table file or manifest that cannot be used; the message names the file."""


class NotATableError(TableError):
    """A file that is not a table of this project, or a directory with the name of a table."""


class WrongVersionError(TableError):
    """A table or manifest of another format version or other draw rules; generate it again."""


class TruncatedTableError(TableError):
    """A table file that is shorter or longer than its header says."""


class DamagedTableError(TableError):
    """A table file whose bytes have changed since it was written."""


class DamagedHeaderError(DamagedTableError):
    """Damage in the header, the alphabet or the frame index of a table file."""


class DamagedFrameError(DamagedTableError):
    """Damage in one frame of a table file; the message gives the number of the frame."""


class ManifestError(TableError):
    """A manifest that is missing or damaged."""


def quote(text: str, longest: int = 60) -> str:
    """Return the text for a message: quoted, escaped, and cut after `longest` characters."""
    return repr(text) if len(text) <= longest else repr(text[:longest]) + "..."
