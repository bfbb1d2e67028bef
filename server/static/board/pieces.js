/**
 * Drawings of the pieces, around the point 0,0 of a square whose side is 1.
 *
 * @import { Piece } from "../position.js"
 */

import { svg } from "../dom.js";
import { SIDES } from "../position.js";

const CROWN = "M-.2 .13 L-.235 -.1 L-.1 .0 L0 -.175 L.1 .0 L.235 -.1 L.2 .13 Z";

/**
 * The gradients of all pieces. They need a picture of their own, as gradients of a hidden picture have no
 * effect.
 */
export const pieceDefinitions = () =>
  svg(
    "svg",
    { class: "unseen", "aria-hidden": "true" },
    SIDES.map(side =>
      svg(
        "radialGradient",
        { id: `piece-${side}`, cx: ".38", cy: ".32", r: ".75" },
        svg("stop", { offset: "0", class: `shade-${side}-near` }),
        svg("stop", { offset: "1", class: `shade-${side}-far` }),
      ),
    ),
  );

/**
 * The drawing of a piece.
 *
 * @param {Piece} piece
 */
export function pieceShape({ side, king }) {
  const ring = (/** @type {string} */ r) => svg("circle", { r, class: "piece-ring" });
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

/**
 * A piece as a picture of its own, for a button.
 *
 * @param {Piece} piece
 */
export const pieceIcon = piece =>
  svg("svg", { viewBox: "-.45 -.45 .9 .9", class: "piece-icon", "aria-hidden": "true" }, pieceShape(piece));
