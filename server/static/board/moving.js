/** A handler of the board that makes legal moves: a piece and its target, step by step where a capture has a choice. */

import { list, t } from "../i18n.js";

export class Moving {
  #moves = [];
  #squares = [];
  /** Whether something was tried that a capture elsewhere does not allow. */
  #warned = false;

  /** `made(move, slid)` is called with the move that was chosen; `slid` tells how many of its steps are shown. */
  constructor(board, made) {
    this.board = board;
    this.made = made;
    this.last = [];
  }

  /** Allow these moves, none while it is nobody's turn; `last` are the squares of the move made before. */
  allow(moves, last = this.last) {
    this.#moves = moves;
    this.last = last;
    this.start();
  }

  /** Take over the board. */
  start() {
    this.#squares = [];
    this.#warned = false;
    this.#mark();
  }

  canDrag(square) {
    return this.#from(square) || square === this.#squares.at(-1);
  }

  origin(square) {
    return square === this.#squares.at(-1) ? this.#squares[0] : square;
  }

  tap(square) {
    if (square === this.#squares.at(-1)) return this.cancel();
    if (this.#squares.length && this.#choose(square)) return;
    if (!this.#squares.length || this.#from(square) || this.#isHeld(square)) this.#begin(square);
    else this.#warn();
  }

  drop(from, to) {
    if (this.#squares.at(-1) !== from) this.#begin(from);
    if (this.#squares.length && to && !this.#choose(to, true)) this.#warn();
  }

  refused(square) {
    if (this.#isHeld(square)) this.#begin(square);
  }

  cancel() {
    const begun = this.#squares[0];
    this.#squares = [];
    this.#warned = false;
    if (begun && this.board.pieces.has(begun)) this.board.place(begun);
    this.#mark();
  }

  #from(square) {
    return this.#moves.some(({ path }) => path[0] === square);
  }

  #begin(square) {
    this.cancel();
    if (this.#from(square)) this.#squares = [square];
    if (this.#isHeld(square)) this.#warn();
    else this.#mark();
  }

  get #mustCapture() {
    return this.#moves.some(({ captured }) => captured.length > 0);
  }

  /** Whether a piece may not move there because another one must capture. */
  #isHeld(square) {
    const side = at => this.board.pieces.get(at)?.side;
    return this.#mustCapture && !this.#from(square) && side(square) === side(this.#moves[0].path[0]);
  }

  #warn() {
    this.#warned = this.#mustCapture;
    this.#mark();
  }

  /** Whether the square could be chosen. */
  #choose(square, dragged = false) {
    const chosen = choose(this.#moves, this.#squares, square);
    if (!chosen) return false;
    if (chosen.move) {
      const shown = dragged && chosen.move.path.length === 2 ? 1 : this.#squares.length - 1;
      this.#squares = [];
      this.made(chosen.move, shown);
      return true;
    }
    this.#squares = chosen.squares;
    this.board.place(this.#squares[0], this.board.centre(square));
    this.#mark();
    return true;
  }

  #mark() {
    if (this.board.handler !== this) return;
    const squares = this.#squares;
    const begun = squares.length > 0;
    const steps = Math.max(0, squares.length - 1);
    const movable = [...new Set(this.#moves.map(({ path }) => path[0]))];
    this.board.showNotice(
      this.#warned ? t("board.mustCapture", { n: movable.length, squares: list(movable) }) : null,
    );
    this.board.mark({
      selected: squares.at(-1) ?? null,
      targets: begun ? nextSquares(this.#moves, squares) : [],
      last: this.last,
      taken: steps ? beginning(this.#moves, squares)[0].captured.slice(0, steps) : [],
      must: this.#warned ? movable : [],
      movable: [...movable, ...squares.slice(-1)],
    });
  }
}

/** The moves that begin with these squares. */
const beginning = (moves, squares) =>
  moves.filter(({ path }) => squares.every((square, index) => path[index] === square));

/** The squares that come next after these. */
const nextSquares = (moves, squares) => [
  ...new Set(
    beginning(moves, squares)
      .map(({ path }) => path[squares.length])
      .filter(Boolean),
  ),
];

/**
 * Choose a square after those chosen so far.
 *
 * It may be the next one of a path, or where just one move ends. Returns `{move}` where that leaves one move,
 * `{squares}` where there is more to choose, null where the square fits none.
 */
function choose(moves, squares, square) {
  const longer = beginning(moves, [...squares, square]);
  if (longer.length === 1) return { move: longer[0] };
  if (longer.length > 1) return { squares: [...squares, square] };
  const ending = squares.length ? beginning(moves, squares).filter(({ path }) => path.at(-1) === square) : [];
  return ending.length === 1 ? { move: ending[0] } : null;
}
