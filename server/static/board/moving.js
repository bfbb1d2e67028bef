/**
 * The handler of the board that makes legal moves: a piece, then its target; captures with a choice go step
 * by step.
 *
 * @import { RuledMove } from "../api.js"
 * @import { Board, Handler } from "./board.js"
 */

import { list, t } from "../i18n.js";

/** @implements {Handler} */
export class Moving {
  /** @type {RuledMove[]} */
  #moves = [];
  /** @type {string[]} */
  #squares = [];
  /** Whether the player tried something that a compulsory capture forbids. */
  #warned = false;
  /** @type {string[]} */
  last = [];
  /** @type {Board} */
  board;
  /** @type {(move: RuledMove, shown: number) => void} */
  made;

  /**
   * @param {Board} board
   * @param {(move: RuledMove, shown: number) => void} made called with the chosen move, and with how many of
   *   its steps the board shows already
   */
  constructor(board, made) {
    this.board = board;
    this.made = made;
  }

  /**
   * Allow these moves, and no others.
   *
   * @param {RuledMove[]} moves
   * @param {string[]} last the squares of the move before
   */
  allow(moves, last = this.last) {
    this.#moves = moves;
    this.last = last;
    this.start();
  }

  /** Begin with no square chosen. */
  start() {
    this.#squares = [];
    this.#warned = false;
    this.#mark();
  }

  /** @param {string} square */
  canDrag(square) {
    return this.#from(square) || square === this.#squares.at(-1);
  }

  /** @param {string} square */
  origin(square) {
    return square === this.#squares.at(-1) ? this.#squares[0] : square;
  }

  /** @param {string} square */
  tap(square) {
    if (square === this.#squares.at(-1)) return this.cancel();
    if (this.#squares.length && this.#choose(square)) return;
    if (!this.#squares.length || this.#from(square) || this.#isHeld(square)) this.#begin(square);
    else this.#warn();
  }

  /**
   * @param {string} from
   * @param {string | null} to
   */
  drop(from, to) {
    if (this.#squares.at(-1) !== from) this.#begin(from);
    if (this.#squares.length && to && !this.#choose(to, true)) this.#warn();
  }

  /** @param {string} square */
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

  /** @param {string} square */
  #from(square) {
    return this.#moves.some(({ path }) => path[0] === square);
  }

  /** @param {string} square */
  #begin(square) {
    this.cancel();
    if (this.#from(square)) this.#squares = [square];
    if (this.#isHeld(square)) this.#warn();
    else this.#mark();
  }

  get #mustCapture() {
    return this.#moves.some(({ captured }) => captured.length > 0);
  }

  /**
   * Whether a piece may not move because another one must capture.
   *
   * @param {string} square
   */
  #isHeld(square) {
    const side = (/** @type {string} */ at) => this.board.pieces.get(at)?.side;
    return this.#mustCapture && !this.#from(square) && side(square) === side(this.#moves[0].path[0]);
  }

  #warn() {
    this.#warned = this.#mustCapture;
    this.#mark();
  }

  /**
   * Choose a square, and return whether it was possible.
   *
   * @param {string} square
   * @param {boolean} dragged
   */
  #choose(square, dragged = false) {
    const chosen = choose(this.#moves, this.#squares, square);
    if (!chosen) return false;
    if ("move" in chosen) {
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

/**
 * The moves that begin with these squares.
 *
 * @param {RuledMove[]} moves
 * @param {string[]} squares
 */
const beginning = (moves, squares) =>
  moves.filter(({ path }) => squares.every((square, index) => path[index] === square));

/**
 * The squares that come next after these.
 *
 * @param {RuledMove[]} moves
 * @param {string[]} squares
 */
const nextSquares = (moves, squares) => [
  ...new Set(
    beginning(moves, squares)
      .map(({ path }) => path[squares.length])
      .filter(Boolean),
  ),
];

/**
 * Choose a square after those chosen so far: the next one of a path, or one where only one move ends.
 *
 * Return the move if only one is left, the chosen squares if there is more to choose, null if the square does
 * not fit.
 *
 * @param {RuledMove[]} moves
 * @param {string[]} squares
 * @param {string} square
 * @returns {{ move: RuledMove } | { squares: string[] } | null}
 */
function choose(moves, squares, square) {
  const longer = beginning(moves, [...squares, square]);
  if (longer.length === 1) return { move: longer[0] };
  if (longer.length > 1) return { squares: [...squares, square] };
  const ending = squares.length ? beginning(moves, squares).filter(({ path }) => path.at(-1) === square) : [];
  return ending.length === 1 ? { move: ending[0] } : null;
}
