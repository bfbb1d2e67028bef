"""Games in PDN: tags, moves, comments, variations and results.

The reader takes PDN 3.0 (its grammar, and its page on the GameType tag) and what programs and people write
beside
it: any separator in a capture, NAGs, `!?`, clocks in comments, results of any kind, moves and tags without
    space
between them. It never fails. A text that it cannot read becomes a `Fault` of its game, or a move that cannot
be played, and it goes on with the next game. It skips variations and comments.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from tablebase.board.notation import GAME_TYPE, Numbering, find_numbering, in_latin_letters, parse_fen
from tablebase.board.position import Position
from tablebase.errors import NotationError, quote

_HALF = r"(?:1\s*/\s*2|½|0[.,]5)"
_POINTS = re.compile(rf"({_HALF}|[0-9]{{1,3}})\s*[-–:]\s*({_HALF}|[0-9]{{1,3}})")


class GameResult(StrEnum):
    """The result of a game, as played or as written."""

    WHITE_WINS = "white-wins"
    BLACK_WINS = "black-wins"
    DRAW = "draw"
    BOTH_LOSE = "both-lose"
    """0-0: a double forfeit in PDN 3.0. No position has this result."""
    OPEN = "open"
    """`*` or `?`: not ended or not known."""


def parse_result(text: str) -> GameResult | None:
    """Return the result that a text stands for; None if it is not a result.

    A result is White's points, a hyphen and Black's points, as in 2-0, 1-1, 1/2-1/2, 0-1 or 12-0; or `*` or
    `?`. The side with more points has won.
    """
    stripped = text.strip()
    if stripped in ("*", "?", ""):
        return GameResult.OPEN
    points = _POINTS.fullmatch(stripped)
    if points is None:
        return None
    white, black = (int(side) if side.isdecimal() else 0.5 for side in points.groups())
    if white == black:
        return GameResult.BOTH_LOSE if white == 0 else GameResult.DRAW
    return GameResult.WHITE_WINS if white > black else GameResult.BLACK_WINS


class FaultKind(StrEnum):
    """The kind of a fault in the text of a game."""

    BAD_TAG = "bad-tag"
    """A text in brackets that is not a tag of PDN."""
    REPEATED_TAG = "repeated-tag"
    """A tag with two values; the first one counts."""
    UNCLOSED = "unclosed"
    """A comment or a variation without its closing bracket."""
    AFTER_RESULT = "after-result"
    """Moves after the result."""
    RESULTS_DIFFER = "results-differ"
    """Two different written results, in the tag and after the moves, or twice after the moves."""
    BAD_RESULT = "bad-result"
    """A Result tag whose value is not a result."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A fault in the text of a game; the rest of the game is read all the same.

    Attributes:
        kind: the kind of the fault.
        line: the line of the text, from 1 on.
        message: what is wrong, and what the reader did about it.
    """

    kind: FaultKind
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class MoveText:
    """A move as written.

    Attributes:
        text: its squares and separators, without move number and annotation.
        line: the line of the text, from 1 on.
    """

    text: str
    line: int

    @property
    def plain(self) -> str:
        """The text with the letters and separators that `tablebase.board.notation.parse_move` reads."""
        return in_latin_letters(self.text).lower().translate(_PLAIN)


@dataclass(frozen=True, slots=True)
class PdnGame:
    """A game as written.

    Attributes:
        number: the number of the game in the text, from 1 on.
        line: its first line in the text, from 1 on.
        tags: the tags by name, as written.
        moves: the moves before the result.
        result: the result after the moves, as written; None if there is none. If the tag `Result` differs,
            that is a fault.
        faults: the faults in the text of the game.
    """

    number: int
    line: int
    tags: Mapping[str, str]
    moves: tuple[MoveText, ...]
    result: str | None
    faults: tuple[Fault, ...]

    def tag(self, name: str) -> str | None:
        """Return the value of a tag, its name in any case; None if the game does not have it."""
        return next(
            (value for known, value in self.tags.items() if known.casefold() == name.casefold()), None
        )

    @property
    def written_result(self) -> GameResult | None:
        """The written result: that after the moves, or else that of the tag `Result`; None without one."""
        at_the_end = None if self.result is None else parse_result(self.result)
        if at_the_end not in (None, GameResult.OPEN):
            return at_the_end
        tag = self.tag("Result")
        return at_the_end if tag is None else parse_result(tag) or at_the_end

    def numbering(self, otherwise: Numbering | str | None = None) -> Numbering | None:
        """Return the numbering of squares in this game: that of its GameType, or else `otherwise`.

        Raises:
            NotationError: the GameType is of another game or another board or cannot be read, or `otherwise`
                is an unknown numbering.
        """
        game_type = self.tag("GameType")
        named = None if game_type is None else _numbering_of(game_type)
        return named or find_numbering(otherwise)

    def start(self, numbering: Numbering | None = None) -> Position:
        """Return the first position of the game: that of its FEN tag, or the initial position.

        Raises:
            NotationError: the FEN cannot be read.
            IllegalPositionError: the FEN is of an illegal position.
        """
        fen = self.tag("FEN")
        return Position.start() if fen is None else parse_fen(fen, numbering)


_GAME_TYPE = re.compile(r"([0-9]{1,4})(?:,([WB]),([0-9]{1,3}),([0-9]{1,3}),([ANS])([0-3])(?:,([01]))?)?")
# PDN 3.0: the corner of square 1 as the first player sees it; numbers run along its row.
_FIRST_SQUARE = {"0": Numbering.A1, "1": Numbering.G1, "2": Numbering.B8}


def _numbering_of(game_type: str) -> Numbering | None:
    """Return the numbering of a GameType; None if it names algebraic notation."""
    found = _GAME_TYPE.fullmatch("".join(game_type.split()).upper())
    if found is None:
        raise NotationError(
            f"GameType {quote(game_type)} is not a GameType of PDN; that of Russian draughts is {GAME_TYPE}"
        )
    number, first, width, height, letter, corner, inverted = found.groups()
    if int(number) != 25:
        raise NotationError(
            f"GameType {quote(game_type)} is another game; "
            f"this program knows Russian draughts alone, 25 or {GAME_TYPE}"
        )
    if first is None:
        return None
    if (first, width, height, inverted or "0") != ("W", "8", "8", "0"):
        raise NotationError(
            f"GameType {quote(game_type)} is Russian draughts on another board or with Black first; "
            f"this program knows {GAME_TYPE}, and N0, N1 or N2 in place of A0"
        )
    if letter == "N" and corner in _FIRST_SQUARE:
        return _FIRST_SQUARE[corner]
    if letter in "AS" and corner == "0":
        return None
    raise NotationError(
        f"notation {letter}{corner} of GameType {quote(game_type)} is unknown; "
        "use A0 (squares like c3), N0 (a1 is number 1), N1 (g1 is number 1) or N2 (b8 is number 1)"
    )


def decode_pdn(data: bytes) -> str:
    """Decode a file: UTF-8, or else Windows-1251, the encoding of older Russian programs. It never fails."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1251", errors="replace")


# With the Cyrillic letters that look the same; escaped, because a reader could not tell them apart.
_FILE = r"[a-hA-H\u0430\u0441\u0435\u0410\u0412\u0421\u0415\u041d]"
_TAKES = r":xX×\u0445\u0425"
_SQUARE = rf"(?:{_FILE}[1-8]|[0-9]{{1,2}})"
_SHORT_MOVE = rf"{_FILE}[1-8]?(?:[-–{_TAKES}]?{_FILE}[1-8])+[{_TAKES}]?"
_TAG = r'\[\s*(?P<name>[A-Za-z]\w*)\s*"(?P<value>(?:[^"\\\n]|\\.)*)"\s*\]'
_TOKEN = re.compile(
    rf"""
      (?P<space>\s+)
    | (?P<tag>{_TAG})
    | (?P<bad_tag>\[[^\]\n]*\]?)
    | (?P<open>[{{(])
    | (?P<rest_of_line>;.*|(?m:^%.*))
    | (?P<glyph>\$[0-9]*|[!?]+|(?<!\S)(?:[-+]?[=±∓∞]|[-+=]/?[-+=])(?!\S))
    | (?P<result>(?<!\S)
        (?:1/2\s?[-–]\s?1/2|½\s?[-–]\s?½|0[.,]5-0[.,]5|[0-9]{{1,3}}[-–:]0|0[-–:][0-9]{{1,3}}|1[-–:]1|\*)(?![^\s\[{{(;]))
    | (?P<move>(?:{_SQUARE}(?:\s*[-–{_TAKES}]\s*{_SQUARE})+|{_SHORT_MOVE})(?![\w:–×-]))\*?
    | (?P<number>[0-9]{{1,4}}\s*(?:\.+|…)|\.+|…|[0-9]{{1,4}}(?!\S))
    | (?P<word>[^\s(){{}}\[\];$!?]+|.)
    """,
    re.VERBOSE,
)
_TAG_LINE = re.compile(r'^[ \t]*\[\s*[A-Za-z]\w*\s*"', re.MULTILINE)
_IN_VARIATION = re.compile(r'[(){;]|^[ \t]*\[\s*[A-Za-z]\w*\s*"', re.MULTILINE)
_ESCAPED = re.compile(r"\\(.)")
_PLAIN = str.maketrans({"–": "-", "×": "x"})
_BROKEN_TAG = re.compile(r"\[\s*([A-Za-z]\w*)(.*)", re.DOTALL)


@dataclass(slots=True)
class _Draft:
    """A game during reading."""

    line: int
    tags: dict[str, str] = field(default_factory=dict)
    moves: list[MoveText] = field(default_factory=list)
    result: str | None = None
    result_line: int = 0
    left_over: list[MoveText] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)

    @property
    def has_moves(self) -> bool:
        return bool(self.moves) or self.result is not None

    @property
    def is_empty(self) -> bool:
        return not (self.tags or self.has_moves or self.faults)

    def fault(self, kind: FaultKind, line: int, message: str) -> None:
        self.faults.append(Fault(kind, line, message))


class _Reader:
    """A reader that goes through a text once."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._counted = 0  # the offset up to which lines are counted
        self._line = 1
        self._games = 0
        self._draft = _Draft(line=1)
        self._move_number: int | None = None  # directly before the current token
        self._tag_ended: int | None = None  # the offset after the tag before this token

    def games(self) -> Iterator[PdnGame]:
        at = 0
        while at < len(self._text):
            token = _TOKEN.match(self._text, at)
            assert token is not None
            at = token.end()
            match token.lastgroup:
                case "tag":
                    if self._begins_another_game(token["name"], token.start()):
                        yield from self._finished()
                    self._tag(token.start(), token["name"], _ESCAPED.sub(r"\1", token["value"]))
                    self._tag_ended = at
                case "bad_tag":
                    self._bad_tag(token)
                case "open":
                    at = self._skip(token.start())
                case "number":
                    digits = re.match(r"[0-9]+", token[0])
                    self._move_number = int(digits[0]) if digits else self._move_number
                case "result":
                    self._result(token)
                case "move" | "word":
                    if self._says_the_tag(token[0]):
                        self._result(token)
                    else:
                        if self._follows_a_game():
                            self._runs_on(token)
                            yield from self._finished()
                        self._move(token)
        yield from self._finished()

    def _line_of(self, at: int) -> int:
        self._line += self._text.count("\n", self._counted, at)
        self._counted = at
        return self._line

    def _finished(self) -> Iterator[PdnGame]:
        draft, self._draft = self._draft, _Draft(line=self._line)
        self._move_number = self._tag_ended = None
        if draft.is_empty:
            return
        self._games += 1
        if draft.left_over:
            first = draft.left_over[0]
            count = len(draft.left_over)
            moves = "a move" if count == 1 else f"{count} moves"
            draft.fault(
                FaultKind.AFTER_RESULT,
                first.line,
                f"after the result {draft.result} the text has {moves} from {quote(first.text)} on; "
                "they are left out",
            )
        self._compare_results(draft)
        yield PdnGame(
            number=self._games,
            line=draft.line,
            tags=MappingProxyType(draft.tags),
            moves=tuple(draft.moves),
            result=draft.result,
            faults=tuple(draft.faults),
        )

    def _compare_results(self, draft: _Draft) -> None:
        tag = draft.tags.get("Result")
        if tag is None:
            return
        by_tag = parse_result(tag)
        if by_tag is None:
            draft.fault(
                FaultKind.BAD_RESULT,
                draft.line,
                f"the Result tag {quote(tag)} is not a result; write 2-0, 1-1 or 0-2",
            )
        elif draft.result is not None:
            by_moves = parse_result(draft.result)
            if GameResult.OPEN not in (by_tag, by_moves) and by_tag is not by_moves:
                draft.fault(
                    FaultKind.RESULTS_DIFFER,
                    draft.result_line,
                    f"the Result tag says {tag}, but the moves end with {draft.result}; the latter counts",
                )

    def _begin(self, line: int) -> _Draft:
        if self._draft.is_empty:
            self._draft.line = line
        return self._draft

    # Tags

    def _begins_another_game(self, name: str, at: int) -> bool:
        draft = self._draft
        if draft.has_moves:
            return True
        if name not in draft.tags:
            return False
        # Games without moves: the tags of one follow those of another, with or without a blank line.
        gap = "" if self._tag_ended is None else self._text[self._tag_ended : at]
        return name == "Event" or gap.count("\n") > 1

    def _tag(self, at: int, name: str, value: str) -> None:
        line = self._line_of(at)
        draft = self._begin(line)
        before = draft.tags.setdefault(name, value)
        if before != value:
            draft.fault(
                FaultKind.REPEATED_TAG,
                line,
                f"the tag {name} has two values, {quote(before)} and {quote(value)}; the first one counts",
            )

    def _bad_tag(self, token: re.Match[str]) -> None:
        line = self._line_of(token.start())
        self._begin(line).fault(
            FaultKind.BAD_TAG,
            line,
            f'{quote(token[0])} is not a tag; write tags like [FEN "W:Wc3:Bd6"]',
        )
        # A game with a broken FEN must not begin in the initial position, like a game without one.
        broken = _BROKEN_TAG.match(token[0])
        if broken is not None and not self._draft.has_moves:
            self._draft.tags.setdefault(broken[1], broken[2].strip('"] \t\r'))

    # What is skipped

    def _skip(self, at: int) -> int:
        """Return the offset after the comment or variation that opens at `at`.

        If it has no end, it ends before the next line with a tag, so that it does not swallow the next game.
        """
        text = self._text
        depth, position = 0, at
        while True:
            if text[position] == "{":
                closed = text.find("}", position)
                end = len(text) if closed < 0 else closed + 1
                next_tag = _TAG_LINE.search(text, position, end)
                if next_tag is not None or closed < 0:
                    return self._unclosed(at, "comment", next_tag.start() if next_tag else end)
                position = end
            elif text[position] == ";":
                line_end = text.find("\n", position)
                position = len(text) if line_end < 0 else line_end
            else:
                depth += 1 if text[position] == "(" else -1
                position += 1
            if depth == 0:
                return position
            found = _IN_VARIATION.search(text, position)
            if found is None or found[0][-1] == '"':
                return self._unclosed(at, "variation", len(text) if found is None else found.start())
            position = found.start()

    def _unclosed(self, at: int, what: str, end: int) -> int:
        line = self._line_of(at)
        self._begin(line).fault(
            FaultKind.UNCLOSED,
            line,
            f"the {what} that opens with {quote(self._text[at : at + 20])} has no end; "
            "the rest of this game is skipped",
        )
        return end

    # Moves and results

    def _follows_a_game(self) -> bool:
        """Whether the next move begins another game, one without tags directly after a result."""
        return self._draft.result is not None and self._move_number == 1

    def _runs_on(self, token: re.Match[str]) -> None:
        line = self._line_of(token.start())
        self._draft.fault(
            FaultKind.AFTER_RESULT,
            line,
            f"after the result {self._draft.result} there is a move 1; "
            f"it begins game {self._games + 2}, which has no tags",
        )

    def _move(self, token: re.Match[str]) -> None:
        line = self._line_of(token.start())
        draft = self._begin(line)
        move = MoveText(token["move"] or token[0], line)
        (draft.moves if draft.result is None else draft.left_over).append(move)
        self._move_number = None

    def _says_the_tag(self, text: str) -> bool:
        """Whether a token that may be a move, like 8-4, is the result because the tag has the same text."""
        return self._draft.result is None and text == self._draft.tags.get("Result")

    def _result(self, token: re.Match[str]) -> None:
        line = self._line_of(token.start())
        draft = self._begin(line)
        if draft.result is None:
            draft.result, draft.result_line = token[0], line
        elif draft.result != token[0]:
            draft.fault(
                FaultKind.RESULTS_DIFFER,
                line,
                f"the moves end with two results, {draft.result} and {token[0]}; the first one counts",
            )
        self._move_number = None


def read_games(text: str) -> Iterator[PdnGame]:
    """Yield the games of a PDN text. Every text can be read.

    A new game begins with a tag after moves, with the tag `Event`, with a repeated tag after a blank line,
    or, without tags, with move 1 after a result. Other moves after a result are left out, which is a fault.
    """
    return _Reader(text).games()
