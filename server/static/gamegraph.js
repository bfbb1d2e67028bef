/** The graph of a game: its outcome ply by ply, White above. */

import { svg } from "./dom.js";
import { t } from "./i18n.js";

const HEIGHT = 5;
const WIDTH = 24;
/** How high an outcome for White stands; what is unknown leaves a gap. */
const LEVELS = {
  win: 2, "maybe-win": 1, "cursed-win": 1, draw: 0, "blessed-loss": -1, "maybe-loss": -1, loss: -2,
};
const MIRRORED = {
  win: "loss", loss: "win", "maybe-win": "maybe-loss", "maybe-loss": "maybe-win",
  "cursed-win": "blessed-loss", "blessed-loss": "cursed-win", draw: "draw", unknown: "unknown",
};

/** An outcome of the side to move, as it is for White. */
const forWhite = (outcome, turn) => (turn === "white" ? outcome : MIRRORED[outcome] ?? "unknown");

/**
 * The graph.
 *
 * `stands` are those of a game, the first before any move; `mistakes` the plies of mistakes; `current` the ply that is
 * on the board; `go(ply)` is called for one that is clicked. The keyboard has the score sheet for that.
 */
export function gameGraph({ stands, mistakes, current, go }) {
  const plies = Math.max(stands.length - 1, 1);
  const x = ply => (ply / plies) * WIDTH, y = level => HEIGHT / 2 - level;
  const rules = stands.map(({ rules_outcome: outcome, turn }) => LEVELS[forWhite(outcome, turn)] ?? null);
  const board = stands.map(({ board_outcome: outcome, turn }) => LEVELS[forWhite(outcome, turn)] ?? null);
  const graph = svg("svg", { viewBox: `-.3 -.2 ${WIDTH + 0.6} ${HEIGHT + 0.4}`, class: "graph", role: "img",
    "aria-label": t("game.graph", { n: stands.length - 1, m: mistakes.length }) },
  svg("rect", { x: 0, y: 0, width: WIDTH, height: HEIGHT / 2, class: "graph-white" }),
  svg("rect", { x: 0, y: HEIGHT / 2, width: WIDTH, height: HEIGHT / 2, class: "graph-black" }),
  runs(rules).map(run => svg("path", { d: area(run, rules, x, y), class: "graph-area" })),
  svg("line", { x1: 0, x2: WIDTH, y1: y(0), y2: y(0), class: "graph-axis" }),
  runs(board).map(run => svg("path", { d: steps(run, board, x, y), class: "graph-board" })),
  runs(rules).map(run => svg("path", { d: steps(run, rules, x, y), class: "graph-line" })),
  svg("line", { x1: x(current), x2: x(current), y1: 0, y2: HEIGHT, class: "graph-now" }),
  mistakes.filter(ply => rules[ply] !== null).map(ply =>
    svg("circle", { cx: x(ply), cy: y(rules[ply]), r: 0.24, class: "graph-mistake", "data-ply": ply },
      svg("title", {}, t("game.mistakeAt", { ply })))));
  graph.addEventListener("click", event => {
    const box = graph.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * (WIDTH + 0.6) - 0.3;
    go(Math.min(plies, Math.max(0, Math.round((at / WIDTH) * plies))));
  });
  return graph;
}

/** The stretches of plies without a gap, as [first, last]. */
function runs(levels) {
  const found = [];
  levels.forEach((level, ply) => {
    if (level === null) return;
    if (found.at(-1)?.[1] === ply - 1) found.at(-1)[1] = ply;
    else found.push([ply, ply]);
  });
  return found;
}

/** A line that changes half-way between two plies, where the move stands. */
function steps([first, last], levels, x, y) {
  let path = `M${x(first)} ${y(levels[first])}`;
  for (let ply = first + 1; ply <= last; ply++) path += `H${x(ply - 0.5)}V${y(levels[ply])}`;
  return `${path}H${x(last)}`;
}

const area = (run, levels, x, y) => `${steps(run, levels, x, y)}V${y(0)}H${x(run[0])}Z`;
