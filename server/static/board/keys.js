/** The board by keyboard: arrows go over the dark squares, Enter or space chooses one. */

import { columnOf, rowOf, squareAt } from "../position.js";

/** Where an arrow key leads from a square; up and down zigzag, as every other square is light. */
function step(square, key) {
  const [column, row] = [columnOf(square), rowOf(square)];
  const aside = row % 2 === 0 ? 1 : -1;
  const [toColumn, toRow] = {
    ArrowLeft: [column - 2, row], ArrowRight: [column + 2, row],
    ArrowUp: [column + aside, row + 1], ArrowDown: [column + aside, row - 1],
    Home: [row % 2, row], End: [6 + row % 2, row],
  }[key];
  const inside = toColumn >= 0 && toColumn < 8 && toRow >= 0 && toRow < 8;
  return inside ? squareAt(toColumn, toRow) : square;
}

const TURNED = { ArrowLeft: "ArrowRight", ArrowRight: "ArrowLeft", ArrowUp: "ArrowDown", ArrowDown: "ArrowUp",
  Home: "End", End: "Home" };

/** Have a board listen to keys. */
export function listenToKeys(board) {
  board.grid.addEventListener("keydown", event => {
    const square = event.target.dataset.square;
    if (!square || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key in TURNED) board.focus(step(square, board.flipped ? TURNED[event.key] : event.key));
    else if (event.key === "Enter" || event.key === " ") {
      if (!board.busy) board.handler.tap(square);
    }
    else if (event.key === "Escape") board.handler.cancel();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  board.grid.addEventListener("focusin", event => {
    if (event.target.dataset.square) board.remember(event.target.dataset.square);
  });
}
