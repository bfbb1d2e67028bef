/** The board by pointer and keyboard. */

import { columnOf, rowOf, squareAt } from "../position.js";

const DRAG_PIXELS = 5;

/** Have a board listen to pointers. */
export function listenToPointer(board) {
  const grid = board.grid;
  let held = null;

  const letGo = () => {
    if (held?.dragging && board.shape(held.origin) === held.shape) {
      held.shape.classList.remove("dragged");
      board.place(held.origin, board.centre(held.square));
    }
    held = null;
  };

  grid.addEventListener("pointerdown", event => {
    if (!event.isPrimary || event.button !== 0 || board.busy) return;
    const { square } = board.locate(event.clientX, event.clientY);
    if (!square) return;
    grid.setPointerCapture(event.pointerId);
    const origin = board.handler.origin(square);
    held = {
      square,
      origin,
      shape: board.shape(origin),
      x: event.clientX,
      y: event.clientY,
      dragging: false,
    };
  });

  grid.addEventListener("pointermove", event => {
    if (!held || !event.isPrimary) return;
    if (!held.dragging) {
      const far = Math.hypot(event.clientX - held.x, event.clientY - held.y) > DRAG_PIXELS;
      if (!far || !held.shape || !board.handler.canDrag(held.square)) return;
      held.dragging = true;
      held.shape.classList.add("dragged");
      held.shape.parentNode.append(held.shape);
    }
    // A new position may have been shown under the hand.
    if (board.shape(held.origin) !== held.shape) return letGo();
    const { x, y } = board.locate(event.clientX, event.clientY);
    board.place(held.origin, [x, y]);
  });

  grid.addEventListener("pointerup", event => {
    if (!held || !event.isPrimary) return;
    const { square: from, dragging } = held;
    const { square: to } = board.locate(event.clientX, event.clientY);
    letGo();
    if (dragging && to !== from) board.handler.drop(from, to);
    else if (to !== from) board.handler.refused(from);
    else {
      board.remember(from);
      board.handler.tap(from);
    }
  });

  grid.addEventListener("pointercancel", letGo);

  // What comes from no pointer comes from a screen reader.
  grid.addEventListener("click", event => {
    const square = event.target.dataset?.square;
    if (square && event.detail === 0 && !event.pointerType) board.handler.tap(square);
  });
}

/** Where an arrow key leads from a square; up and down zigzag, as every other square is light. */
function step(square, key) {
  const [column, row] = [columnOf(square), rowOf(square)];
  const aside = row % 2 === 0 ? 1 : -1;
  const [toColumn, toRow] = {
    ArrowLeft: [column - 2, row],
    ArrowRight: [column + 2, row],
    ArrowUp: [column + aside, row + 1],
    ArrowDown: [column + aside, row - 1],
    Home: [row % 2, row],
    End: [6 + (row % 2), row],
  }[key];
  const inside = toColumn >= 0 && toColumn < 8 && toRow >= 0 && toRow < 8;
  return inside ? squareAt(toColumn, toRow) : square;
}

const TURNED = {
  ArrowLeft: "ArrowRight",
  ArrowRight: "ArrowLeft",
  ArrowUp: "ArrowDown",
  ArrowDown: "ArrowUp",
  Home: "End",
  End: "Home",
};

/** Have a board listen to keys. */
export function listenToKeys(board) {
  board.grid.addEventListener("keydown", event => {
    const square = event.target.dataset.square;
    if (!square || event.ctrlKey || event.altKey || event.metaKey) return;
    if (event.key in TURNED) board.focus(step(square, board.flipped ? TURNED[event.key] : event.key));
    else if (event.key === "Enter" || event.key === " ") {
      if (!board.busy) board.handler.tap(square);
    } else if (event.key === "Escape") board.handler.cancel();
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  board.grid.addEventListener("focusin", event => {
    if (event.target.dataset.square) board.remember(event.target.dataset.square);
  });
}
