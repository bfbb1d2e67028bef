/**
 * The board by pointer and keyboard.
 *
 * @import { Board } from "./board.js"
 *
 * @typedef {object} Held A square under the pointer, until the button is released.
 * @property {string} square
 * @property {string} origin
 * @property {SVGGElement | undefined} shape
 * @property {number} x
 * @property {number} y
 * @property {boolean} dragging
 */

import { columnOf, rowOf, squareAt } from "../position.js";

const DRAG_PIXELS = 5;

/**
 * Pass the input of pointers to the handler of a board.
 *
 * @param {Board} board
 */
export function listenToPointer(board) {
  const grid = board.grid;
  /** @type {Held | null} */
  let held = null;

  const release = () => {
    if (held?.shape && held.dragging && board.shape(held.origin) === held.shape) {
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
      board.layers.pieces.append(held.shape);
    }
    // The board may show a new position by now.
    if (board.shape(held.origin) !== held.shape) return release();
    const { x, y } = board.locate(event.clientX, event.clientY);
    board.place(held.origin, [x, y]);
  });

  grid.addEventListener("pointerup", event => {
    if (!held || !event.isPrimary) return;
    const { square: from, dragging } = held;
    const { square: to } = board.locate(event.clientX, event.clientY);
    release();
    if (dragging && to !== from) board.handler.drop(from, to);
    else if (to !== from) board.handler.refused(from);
    else {
      board.remember(from);
      board.handler.tap(from);
    }
  });

  grid.addEventListener("pointercancel", release);

  // A click without a pointer comes from a screen reader.
  grid.addEventListener("click", event => {
    const square = squareOf(event);
    const { detail, pointerType } = /** @type {PointerEvent} */ (event);
    if (square && detail === 0 && !pointerType) board.handler.tap(square);
  });
}

/**
 * The square of the cell that got an event.
 *
 * @param {Event} event
 */
const squareOf = event => /** @type {HTMLElement} */ (event.target).dataset.square;

/**
 * The square that a key leads to. Up and down zigzag, as every other square is light.
 *
 * @param {string} square
 * @param {string} key
 */
function step(square, key) {
  const [column, row] = [columnOf(square), rowOf(square)];
  const aside = row % 2 === 0 ? 1 : -1;
  /** @type {Record<string, [number, number]>} */
  const squares = {
    ArrowLeft: [column - 2, row],
    ArrowRight: [column + 2, row],
    ArrowUp: [column + aside, row + 1],
    ArrowDown: [column + aside, row - 1],
    Home: [row % 2, row],
    End: [6 + (row % 2), row],
  };
  const [toColumn, toRow] = squares[key];
  const inside = toColumn >= 0 && toColumn < 8 && toRow >= 0 && toRow < 8;
  return inside ? squareAt(toColumn, toRow) : square;
}

/**
 * The keys on a flipped board.
 *
 * @type {Record<string, string>}
 */
const TURNED = {
  ArrowLeft: "ArrowRight",
  ArrowRight: "ArrowLeft",
  ArrowUp: "ArrowDown",
  ArrowDown: "ArrowUp",
  Home: "End",
  End: "Home",
};

/**
 * Pass the input of the keyboard to the handler of a board: arrows move over the dark squares, Enter or space
 * chooses.
 *
 * @param {Board} board
 */
export function listenToKeys(board) {
  board.grid.addEventListener("keydown", event => {
    const square = squareOf(event);
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
    const square = squareOf(event);
    if (square) board.remember(square);
  });
}
