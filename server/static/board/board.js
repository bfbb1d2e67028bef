/**
 * The board: a picture in SVG, and over it a grid of cells for pointer, keyboard and screen reader.
 *
 * The board shows positions and reports input. Its handler knows the rules, or edits the position.
 *
 * @import { Pieces } from "../position.js"
 *
 * @typedef {object} Handler
 * @property {() => void} start called when the handler gets the board
 * @property {(square: string) => boolean} canDrag whether the piece on a square may be dragged
 * @property {(square: string) => void} tap called when a square is tapped, clicked, or chosen by keyboard
 * @property {(from: string, to: string | null) => void} drop called when a piece is dragged; `to` is null
 *   outside the board
 * @property {(square: string) => void} refused called when a piece is dragged that may not be
 * @property {() => void} cancel called when the player gives up what was begun (Escape)
 * @property {(square: string) => string} origin the square of the piece that is shown on a square: another
 *   one during a capture of several steps
 *
 * @typedef {[x: number, y: number]} Point a point in the units of the picture
 *
 * @typedef {object} Marks
 * @property {string | null} [selected]
 * @property {string[]} [targets]
 * @property {string[]} [last] the squares of the move before
 * @property {string[]} [must] the squares of the pieces that must capture
 * @property {string[]} [taken] the squares of the pieces captured so far
 * @property {string[]} [movable] the squares whose pieces may move; a finger drags them without scrolling the
 *   page
 */

import { find, html, replace, svg } from "../dom.js";
import { t } from "../i18n.js";
import { columnOf, isDark, rowOf, SQUARES, squareAt } from "../position.js";
import { listenToKeys, listenToPointer } from "./input.js";
import { pieceDefinitions, pieceShape } from "./pieces.js";

const FRAME = 0.42;
const SIZE = 8 + 2 * FRAME;
const STEP_MS = 230;

export class Board {
  /** @type {Handler} */
  handler = {
    start: () => {},
    canDrag: () => false,
    tap: () => {},
    drop: () => {},
    refused: () => {},
    cancel: () => {},
    origin: square => square,
  };
  /** @type {Pieces} */
  pieces = new Map();
  /** True while a move is shown: the board takes no input. */
  busy = false;
  /** @type {HTMLElement} */
  notice;
  picture = svg("svg", { viewBox: `${-FRAME} ${-FRAME} ${SIZE} ${SIZE}`, "aria-hidden": "true" });
  layers = {
    squares: svg("g", { class: "squares" }),
    marks: svg("g", { class: "marks" }),
    pieces: svg("g", { class: "pieces" }),
    arrows: svg("g", { class: "arrows" }),
  };
  grid = html("div", { class: "cells", role: "grid" });
  /** @type {Map<string, SVGGElement>} */
  #shapes = new Map();
  #flipped = false;
  #focus = "a1";
  /** @type {Animation[]} */
  #sliding = [];

  /**
   * @param {HTMLElement} element
   * @param {HTMLElement} notice the element for messages about the input
   */
  constructor(element, notice) {
    this.notice = notice;
    document.body.append(pieceDefinitions());
    this.picture.append(arrowHeads(), ...Object.values(this.layers));
    element.append(this.picture, this.grid);
    this.#lay();
    listenToPointer(this);
    listenToKeys(this);
  }

  /**
   * The centre of a square in the picture.
   *
   * @param {string} square
   * @returns {Point}
   */
  centre(square) {
    const [x, y] = [columnOf(square), 7 - rowOf(square)];
    return this.#flipped ? [7.5 - x, 7.5 - y] : [x + 0.5, y + 0.5];
  }

  /**
   * A point of the window in the units of the picture, and the dark square there, null if there is none.
   *
   * @param {number} clientX
   * @param {number} clientY
   */
  locate(clientX, clientY) {
    const box = this.picture.getBoundingClientRect();
    const x = ((clientX - box.left) / box.width) * SIZE - FRAME;
    const y = ((clientY - box.top) / box.height) * SIZE - FRAME;
    const [column, row] = [Math.floor(x), Math.floor(y)];
    const inside = column >= 0 && column < 8 && row >= 0 && row < 8;
    const [file, rank] = this.#flipped ? [7 - column, row] : [column, 7 - row];
    return { x, y, square: inside && isDark(file, rank) ? squareAt(file, rank) : null };
  }

  /** @param {string} square */
  cell(square) {
    return find(`[data-square=${square}]`, this.grid);
  }

  /** @param {string} square */
  shape(square) {
    return this.#shapes.get(square);
  }

  get flipped() {
    return this.#flipped;
  }

  /** @param {boolean} flipped */
  flip(flipped) {
    if (flipped === this.#flipped) return;
    this.#flipped = flipped;
    this.#lay();
    this.show(this.pieces);
  }

  /**
   * Show a position. A move that is still shown ends.
   *
   * @param {Pieces} pieces
   */
  show(pieces) {
    for (const animation of this.#sliding) animation.cancel();
    this.#sliding = [];
    this.pieces = pieces;
    this.#shapes = new Map([...pieces].map(([square, piece]) => [square, pieceShape(piece)]));
    for (const square of this.#shapes.keys()) this.place(square);
    replace(this.layers.pieces, ...this.#shapes.values());
    this.label();
  }

  /**
   * Put the drawing of a piece on its square, or on a point of the picture.
   *
   * @param {string} square
   * @param {Point} point
   */
  place(square, [x, y] = this.centre(square)) {
    const shape = this.#shapes.get(square);
    if (shape) shape.style.transform = `translate(${x}px, ${y}px)`;
  }

  /**
   * Show why the board refuses an input; null clears the message.
   *
   * @param {string | null} text
   */
  showNotice(text) {
    this.notice.textContent = text ?? "";
  }

  /** Name the cells for screen readers, in the language of the page. */
  label() {
    this.grid.setAttribute("aria-label", t("board.label"));
    for (const square of SQUARES) {
      const piece = this.pieces.get(square);
      const what = piece ? t(`piece.${piece.side}.${piece.king ? "king" : "man"}`) : t("piece.none");
      const cell = this.cell(square);
      const state = cell.dataset.state;
      cell.setAttribute("aria-label", `${square}, ${what}${state ? `, ${t(`board.${state}`)}` : ""}`);
    }
  }

  /**
   * Mark squares.
   *
   * @param {Marks} marks
   */
  mark({ selected = null, targets = [], last = [], must = [], taken = [], movable = [] } = {}) {
    const mark = (/** @type {string} */ square, /** @type {string} */ name) => {
      const [x, y] = this.centre(square);
      return name === "target"
        ? svg("circle", { cx: x, cy: y, r: this.pieces.has(square) ? ".46" : ".15", class: "mark-target" })
        : svg("rect", { x: x - 0.5, y: y - 0.5, width: 1, height: 1, class: `mark-${name}` });
    };
    replace(
      this.layers.marks,
      last.map(square => mark(square, "last")),
      must.map(square => mark(square, "must")),
      selected ? mark(selected, "selected") : null,
      targets.map(square => mark(square, "target")),
    );
    for (const [square, shape] of this.#shapes) shape.classList.toggle("taken", taken.includes(square));
    for (const square of SQUARES) {
      const cell = this.cell(square);
      const state =
        square === selected
          ? "selected"
          : targets.includes(square)
            ? "target"
            : must.includes(square)
              ? "must"
              : "";
      cell.dataset.state = state;
      cell.classList.toggle("movable", movable.includes(square));
      cell.setAttribute("aria-selected", String(square === selected));
    }
    this.label();
  }

  /**
   * Draw a move as an arrow along its path; no path clears the arrow.
   *
   * @param {string[] | null} [path]
   * @param {string[]} captured
   */
  arrow(path, captured = []) {
    if (!path) return replace(this.layers.arrows);
    const points = path.map(square => this.centre(square));
    // The arrow begins at the edge of the piece, so that the piece stays visible.
    const [[x, y], [toX, toY]] = points;
    const length = Math.hypot(toX - x, toY - y);
    points[0] = [x + ((toX - x) / length) * 0.36, y + ((toY - y) / length) * 0.36];
    const line = svg("polyline", { points: points.map(point => point.join(",")).join(" "), class: "arrow" });
    const crosses = captured.map(square => {
      const [x, y] = this.centre(square);
      return svg("path", { d: `M${x - 0.2} ${y - 0.2}l.4 .4m0 -.4l-.4 .4`, class: "arrow-taken" });
    });
    replace(this.layers.arrows, line, crosses);
  }

  /**
   * Move a piece along a path, square by square, while captured pieces fade. Resolve at the end.
   *
   * @param {string[]} path
   * @param {string[]} captured
   * @param {number} shown how many steps the board shows already
   */
  async slide(path, captured, shown = 0) {
    const shape = this.#shapes.get(path[0]);
    if (!shape || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    this.layers.pieces.append(shape);
    const left = path.slice(shown);
    if (left.length < 2) return;
    const frames = left.map(square => {
      const [x, y] = this.centre(square);
      return { transform: `translate(${x}px, ${y}px)`, easing: "ease-in-out" };
    });
    const slide = shape.animate(frames, { duration: STEP_MS * (left.length - 1), fill: "forwards" });
    const fades = captured.slice(shown).flatMap((square, index) => {
      const timing = { delay: STEP_MS * (index + 0.4), duration: STEP_MS / 2 };
      return this.#shapes.get(square)?.animate({ opacity: [1, 0.25] }, { ...timing, fill: "forwards" }) ?? [];
    });
    this.#sliding = [slide, ...fades];
    // A new position cancels the animation, which is no error.
    await slide.finished.catch(() => {});
  }

  /**
   * Make a square the one that Tab leads to.
   *
   * @param {string} square
   */
  remember(square) {
    this.cell(this.#focus).tabIndex = -1;
    this.#focus = square;
    this.cell(square).tabIndex = 0;
  }

  /**
   * Focus a square.
   *
   * @param {string} square
   */
  focus(square) {
    this.remember(square);
    this.cell(square).focus({ preventScroll: true });
  }

  /** Draw the squares and the cells. */
  #lay() {
    const shown = (/** @type {number} */ index) => (this.#flipped ? 7 - index : index);
    const columns = [...Array(8).keys()];
    const squares = [];
    const texts = [];
    for (const x of columns) {
      for (const y of columns) {
        const dark = isDark(shown(x), 7 - shown(y));
        squares.push(
          svg("rect", { x, y, width: 1, height: 1, class: dark ? "square-dark" : "square-light" }),
        );
      }
      const file = "abcdefgh"[shown(x)];
      const rank = String(8 - shown(x));
      texts.push(
        svg("text", { x: x + 0.5, y: 8 + FRAME * 0.68 }, file),
        svg("text", { x: -FRAME / 2, y: x + 0.59 }, rank),
      );
    }
    const edge = { x: -FRAME, y: -FRAME, width: SIZE, height: SIZE, rx: 0.12, class: "board-frame" };
    const inner = { x: -0.03, y: -0.03, width: 8.06, height: 8.06, class: "board-edge" };
    replace(this.layers.squares, svg("rect", edge), svg("rect", inner), squares, texts);
    replace(
      this.grid,
      columns.map(y =>
        html(
          "div",
          { role: "row" },
          columns.map(x => {
            const [column, row] = [shown(x), 7 - shown(y)];
            if (!isDark(column, row))
              return html("div", { role: "gridcell", "aria-label": t("board.light") });
            const square = squareAt(column, row);
            return html("div", {
              role: "gridcell",
              "data-square": square,
              tabindex: square === this.#focus ? 0 : -1,
            });
          }),
        ),
      ),
    );
  }
}

const arrowHeads = () =>
  svg(
    "defs",
    {},
    svg(
      "marker",
      {
        id: "arrow-head",
        viewBox: "0 0 10 10",
        refX: 6,
        refY: 5,
        markerWidth: 3,
        markerHeight: 3,
        orient: "auto",
      },
      svg("path", { d: "M0 0L10 5L0 10z", class: "arrow-head" }),
    ),
  );
