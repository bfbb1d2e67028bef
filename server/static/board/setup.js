/** A handler of the board that sets up a position: the piece of the palette is put, dragged, or taken off. */

import { html, replace } from "../dom.js";
import { t } from "../i18n.js";
import { promotes } from "../position.js";
import { pieceIcon } from "./board.js";

const PALETTE = ["white", "black"].flatMap(side => [
  { side, king: false },
  { side, king: true },
]);
const ERASER = null;

const eraserIcon = () => {
  const icon = pieceIcon({ side: "white", king: false });
  icon.classList.add("eraser-icon");
  return icon;
};

export class Setup {
  #chosen = PALETTE[0];

  /** `changed(pieces)` is called with a new Map from square to piece. */
  constructor(board, palette, changed) {
    this.board = board;
    this.changed = changed;
    this.palette = palette;
    this.label();
  }

  /** Draw the palette, in the language of the page. */
  label() {
    const choice = (piece, name, icon) =>
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

  /** Take over the board. */
  start() {
    this.board.showNotice(null);
    this.board.mark({ movable: [...this.board.pieces.keys()] });
  }

  canDrag(square) {
    return this.board.pieces.has(square);
  }

  origin(square) {
    return square;
  }

  refused() {}

  cancel() {}

  /** Put the chosen piece; where it stands already, take it off. */
  tap(square) {
    const pieces = new Map(this.board.pieces);
    const there = pieces.get(square);
    const put = this.#chosen && crowned(this.#chosen, square);
    if (!put || (there?.side === put.side && there.king === put.king)) pieces.delete(square);
    else pieces.set(square, put);
    this.changed(pieces);
  }

  /** Move a piece; off the board it is gone. */
  drop(from, to) {
    const pieces = new Map(this.board.pieces);
    const piece = pieces.get(from);
    pieces.delete(from);
    if (to) pieces.set(to, crowned(piece, to));
    this.changed(pieces);
  }
}

/** A man that is put on the last row is a king, as no man can stand there. */
const crowned = ({ side, king }, square) => ({ side, king: king || promotes(square, side) });
