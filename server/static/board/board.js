/**
 * The board: a picture in SVG, and over it a grid of cells that take pointer, keyboard and screen reader.
 *
 * It shows what it is told and reports what is done to it; rules and editing are for its `handler`:
 *   start()           it has been given the board
 *   canDrag(square)   whether a piece may be dragged from there
 *   tap(square)       a square was tapped, clicked, or chosen by keyboard
 *   drop(from, to)    a piece was dragged; `to` is null outside the board
 *   refused(square)   a piece was dragged that may not be
 *   cancel()          what was begun is not wanted (Escape)
 *   origin(square)    where the piece that is seen there stands, while a capture of several steps is chosen
 */

import { find, html, replace, svg } from "../dom.js";
import { t } from "../i18n.js";
import { columnOf, isDark, rowOf, SQUARES, squareAt } from "../position.js";
import { listenToKeys, listenToPointer } from "./input.js";

const FRAME = 0.42;
const SIZE = 8 + 2 * FRAME;
const STEP_MS = 230;

export class Board {
  handler = {
    start: () => {},
    canDrag: () => false,
    tap: () => {},
    drop: () => {},
    refused: () => {},
    cancel: () => {},
    origin: square => square,
  };
  pieces = new Map();
  /** While a move is being shown nothing can be done to the board. */
  busy = false;
  #shapes = new Map();
  #flipped = false;
  #focus = "a1";
  #sliding = [];

  /** `notice` is the element that a word on what was done to the board goes to. */
  constructor(element, notice) {
    this.element = element;
    this.notice = notice;
    this.picture = svg("svg", { viewBox: `${-FRAME} ${-FRAME} ${SIZE} ${SIZE}`, "aria-hidden": "true" });
    this.layers = Object.fromEntries(
      ["squares", "marks", "pieces", "arrows"].map(name => [name, svg("g", { class: name })]),
    );
    document.body.append(pieceDefinitions());
    this.picture.append(arrowHeads(), ...Object.values(this.layers));
    this.grid = html("div", { class: "cells", role: "grid" });
    element.append(this.picture, this.grid);
    this.#lay();
    listenToPointer(this);
    listenToKeys(this);
  }

  /** Where the middle of a square is in the picture. */
  centre(square) {
    const [x, y] = [columnOf(square), 7 - rowOf(square)];
    return this.#flipped ? [7.5 - x, 7.5 - y] : [x + 0.5, y + 0.5];
  }

  /** A point of the window in the units of the picture, and the dark square there, null if there is none. */
  locate(clientX, clientY) {
    const box = this.picture.getBoundingClientRect();
    const x = ((clientX - box.left) / box.width) * SIZE - FRAME;
    const y = ((clientY - box.top) / box.height) * SIZE - FRAME;
    const [column, row] = [Math.floor(x), Math.floor(y)];
    const inside = column >= 0 && column < 8 && row >= 0 && row < 8;
    const [file, rank] = this.#flipped ? [7 - column, row] : [column, 7 - row];
    return { x, y, square: inside && isDark(file, rank) ? squareAt(file, rank) : null };
  }

  cell(square) {
    return find(`[data-square=${square}]`, this.grid);
  }

  shape(square) {
    return this.#shapes.get(square);
  }

  get flipped() {
    return this.#flipped;
  }

  flip(flipped) {
    if (flipped === this.#flipped) return;
    this.#flipped = flipped;
    this.#lay();
    this.show(this.pieces);
  }

  /** Show these pieces, a Map from square to `{side, king}`; a move that is still being shown ends. */
  show(pieces) {
    for (const animation of this.#sliding) animation.cancel();
    this.#sliding = [];
    this.pieces = pieces;
    this.#shapes = new Map([...pieces].map(([square, piece]) => [square, pieceShape(piece)]));
    for (const square of this.#shapes.keys()) this.place(square);
    replace(this.layers.pieces, ...this.#shapes.values());
    this.label();
  }

  /** Put the piece of a square where it belongs, or to a point of the picture. */
  place(square, [x, y] = this.centre(square)) {
    this.#shapes.get(square).style.transform = `translate(${x}px, ${y}px)`;
  }

  /** Say why the board does not do what was wanted of it; null takes that away. */
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
   * Mark squares: `selected` (one), `targets` and `last` (several), `must` (whose pieces must capture), `taken` (pieces
   * jumped over so far), and `movable` (those whose piece may be moved, which a finger drags without scrolling the page).
   */
  mark({ selected = null, targets = [], last = [], must = [], taken = [], movable = [] } = {}) {
    const mark = (square, name) => {
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

  /** Draw a move as an arrow along its path; null takes it away. */
  arrow(path, captured = []) {
    if (!path) return replace(this.layers.arrows);
    const points = path.map(square => this.centre(square));
    // It leaves from the edge of the piece, which stays in sight.
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

  /** Move a piece along a path, square by square, those it jumps over fading; the first `shown` steps are shown
   * already. Done at its end. */
  async slide(path, captured, shown = 0) {
    const shape = this.#shapes.get(path[0]);
    if (!shape || matchMedia("(prefers-reduced-motion: reduce)").matches) return;
    shape.parentNode.append(shape);
    const left = path.slice(shown);
    if (left.length < 2) return;
    const frames = left.map(square => {
      const [x, y] = this.centre(square);
      return { transform: `translate(${x}px, ${y}px)`, easing: "ease-in-out" };
    });
    const slide = shape.animate(frames, { duration: STEP_MS * (left.length - 1), fill: "forwards" });
    const fades = captured
      .slice(shown)
      .map((square, index) =>
        this.#shapes
          .get(square)
          ?.animate(
            { opacity: [1, 0.25] },
            { delay: STEP_MS * (index + 0.4), duration: STEP_MS / 2, fill: "forwards" },
          ),
      );
    this.#sliding = [slide, ...fades.filter(Boolean)];
    // Another position shown meanwhile cancels it, which is no fault.
    await slide.finished.catch(() => {});
  }

  /** Let the keyboard come back to that square. */
  remember(square) {
    this.cell(this.#focus).tabIndex = -1;
    this.#focus = square;
    this.cell(square).tabIndex = 0;
  }

  /** Give the keyboard to a square. */
  focus(square) {
    this.remember(square);
    this.cell(square).focus({ preventScroll: true });
  }

  #lay() {
    const shown = index => (this.#flipped ? 7 - index : index);
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

const CROWN = "M-.2 .13 L-.235 -.1 L-.1 .0 L0 -.175 L.1 .0 L.235 -.1 L.2 .13 Z";

/** The gradients that all pieces of a document use: in a picture of their own, as hidden ones have none to give. */
const pieceDefinitions = () =>
  svg(
    "svg",
    { class: "unseen", "aria-hidden": "true" },
    ["white", "black"].map(side =>
      svg(
        "radialGradient",
        { id: `piece-${side}`, cx: ".38", cy: ".32", r: ".75" },
        svg("stop", { offset: "0", class: `shade-${side}-near` }),
        svg("stop", { offset: "1", class: `shade-${side}-far` }),
      ),
    ),
  );

/** A piece `{side, king}` as a group. */
function pieceShape({ side, king }) {
  const ring = r => svg("circle", { r, class: "piece-ring" });
  return svg(
    "g",
    { class: `piece piece-${side}` },
    svg("ellipse", { cx: ".015", cy: ".05", rx: ".4", ry: ".4", class: "piece-shadow" }),
    svg("circle", { r: ".4", fill: `url(#piece-${side})`, class: "piece-body" }),
    king
      ? [svg("circle", { r: ".325", class: "king-ring" }), crown()]
      : [ring(".31"), ring(".2"), ring(".09")],
  );
}

const crown = () =>
  svg(
    "g",
    { class: "crown" },
    svg("path", { d: CROWN }),
    svg("rect", { x: "-.2", y: ".155", width: ".4", height: ".055", rx: ".02" }),
    [
      [-0.235, -0.115],
      [0, -0.19],
      [0.235, -0.115],
    ].map(([cx, cy]) => svg("circle", { cx, cy, r: ".032" })),
  );

/** A piece alone, as a picture for a button. */
export const pieceIcon = piece =>
  svg("svg", { viewBox: "-.45 -.45 .9 .9", class: "piece-icon", "aria-hidden": "true" }, pieceShape(piece));
