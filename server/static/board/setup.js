/**
 * The handler of the board that sets up a position: it puts pieces of the palette, moves and removes pieces.
 *
 * @import { Piece, Pieces } from "../position.js"
 * @import { Board, Handler } from "./board.js"
 */

import { html, replace } from "../dom.js";
import { t } from "../i18n.js";
import { promotes, SIDES } from "../position.js";
import { pieceIcon } from "./pieces.js";

/** @type {Piece[]} */
const PALETTE = SIDES.flatMap(side => [
  { side, king: false },
  { side, king: true },
]);
const ERASER = null;

const eraserIcon = () => {
  const icon = pieceIcon({ side: "white", king: false });
  icon.classList.add("eraser-icon");
  return icon;
};

/** @implements {Handler} */
export class Setup {
  /** @type {Piece | null} */
  #chosen = PALETTE[0];
  /** @type {Board} */
  board;
  /** @type {HTMLElement} */
  palette;
  /** @type {(pieces: Pieces) => void} */
  changed;

  /**
   * @param {Board} board
   * @param {HTMLElement} palette
   * @param {(pieces: Pieces) => void} changed called with the new position
   */
  constructor(board, palette, changed) {
    this.board = board;
    this.changed = changed;
    this.palette = palette;
    this.label();
  }

  /** Draw the palette, in the language of the page. */
  label() {
    const choice = (
      /** @type {Piece | null} */ piece,
      /** @type {string} */ name,
      /** @type {SVGElement} */ icon,
    ) =>
      html(
        "label",
        { class: "palette-choice", title: name },
        html("input", {
          type: "radio",
          name: "palette",
          checked: piece === this.#chosen,
          "aria-label": name,
          onchange: () => {
            this.#chosen = piece;
          },
        }),
        icon,
      );
    replace(
      this.palette,
      PALETTE.map(piece =>
        choice(piece, t(`piece.${piece.side}.${piece.king ? "king" : "man"}`), pieceIcon(piece)),
      ),
      choice(ERASER, t("setup.eraser"), eraserIcon()),
    );
  }

  /** Allow every piece to be dragged. */
  start() {
    this.board.showNotice(null);
    this.board.mark({ movable: [...this.board.pieces.keys()] });
  }

  /** @param {string} square */
  canDrag(square) {
    return this.board.pieces.has(square);
  }

  /** @param {string} square */
  origin(square) {
    return square;
  }

  refused() {}

  cancel() {}

  /**
   * Put the chosen piece on a square; remove it if it is there already.
   *
   * @param {string} square
   */
  tap(square) {
    const pieces = new Map(this.board.pieces);
    const there = pieces.get(square);
    const put = this.#chosen && crowned(this.#chosen, square);
    if (!put || (there?.side === put.side && there.king === put.king)) pieces.delete(square);
    else pieces.set(square, put);
    this.changed(pieces);
  }

  /**
   * Move a piece; remove it if it is dropped outside the board.
   *
   * @param {string} from
   * @param {string | null} to
   */
  drop(from, to) {
    const pieces = new Map(this.board.pieces);
    const piece = pieces.get(from);
    pieces.delete(from);
    if (to && piece) pieces.set(to, crowned(piece, to));
    this.changed(pieces);
  }
}

/**
 * A piece on a square: a man on the last row becomes a king.
 *
 * @param {Piece} piece
 * @param {string} square
 * @returns {Piece}
 */
const crowned = ({ side, king }, square) => ({ side, king: king || promotes(square, side) });
