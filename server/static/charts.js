/**
 * Charts: a bar of outcomes, a histogram of distances, the graph of a game.
 *
 * @import { GameState, MaterialReport, Outcome, RulesOutcome } from "./api.js"
 * @import { Side } from "./position.js"
 *
 * @typedef {"win" | "cursed_win" | "draw" | "blessed_loss" | "loss"} OutcomeField
 * @typedef {(number | null)[]} Levels heights in the graph by ply, null for a gap
 * @typedef {(value: number) => number} Scale
 */

import { html, svg } from "./dom.js";
import { number, percent, t } from "./i18n.js";

/**
 * The outcomes in the order of a bar: the field of the server that has the count, and the name.
 *
 * @type {[OutcomeField, Outcome][]}
 */
export const OUTCOMES = [
  ["win", "win"],
  ["cursed_win", "cursed-win"],
  ["draw", "draw"],
  ["blessed_loss", "blessed-loss"],
  ["loss", "loss"],
];

/**
 * The shares of the outcomes of a material as a bar; null if the counts are unknown.
 *
 * @param {MaterialReport} material
 */
export function outcomeBar(material) {
  const total = OUTCOMES.reduce((sum, [field]) => sum + (material[field] ?? 0), 0);
  if (material.win === null || total === 0) return null;
  const parts = OUTCOMES.flatMap(([field, outcome]) => {
    const count = material[field];
    if (!count) return [];
    const share = count / total;
    const text = `${t(`outcome.${outcome}`)} ${percent(share)}`;
    const part = html("span", { class: `bar-${outcome}`, title: `${text} (${number(count)})` });
    part.style.flexGrow = String(share);
    return { part, text };
  });
  return html(
    "span",
    { class: "outcome-bar", role: "img", "aria-label": parts.map(({ text }) => text).join(", ") },
    parts.map(({ part }) => part),
  );
}

/** The width of a picture. On a phone it is smaller, so that its numbers stay readable. */
const pictureWidth = () => (matchMedia("(max-width: 34rem)").matches ? 340 : 600);
const HEIGHT = 190;
const MARGIN = { left: 64, right: 10, top: 10, bottom: 34 };
const MOST_BARS = 90;

/**
 * A histogram of distances in moves. A bar may take several moves, if there are many.
 *
 * @param {number[]} counts by plies, from 0 on
 * @param {{ title: string, logarithmic: boolean }} options
 */
export function histogram(counts, { title, logarithmic }) {
  /** @type {number[]} */
  const moves = [];
  counts.forEach((count, plies) => {
    moves[Math.ceil(plies / 2)] = (moves[Math.ceil(plies / 2)] ?? 0) + count;
  });
  const size = Math.ceil(moves.length / MOST_BARS);
  /** @type {number[]} */
  const bins = [];
  moves.forEach((count, move) => {
    bins[Math.floor(move / size)] = (bins[Math.floor(move / size)] ?? 0) + count;
  });
  const most = Math.max(...bins, 1);
  const width = pictureWidth();
  /** @type {Scale} */
  const scale = logarithmic ? count => Math.log1p(count) / Math.log1p(most) : count => count / most;
  const inner = { width: width - MARGIN.left - MARGIN.right, height: HEIGHT - MARGIN.top - MARGIN.bottom };
  const step = inner.width / bins.length;
  const x = (/** @type {number} */ bin) => MARGIN.left + bin * step;
  const y = (/** @type {number} */ share) => MARGIN.top + inner.height * (1 - share);
  const range = (/** @type {number} */ bin) =>
    size === 1 ? number(bin) : `${number(bin * size)}–${number((bin + 1) * size - 1)}`;
  const labelEvery = Math.max(1, Math.ceil(bins.length / 10));
  const heights = logarithmic
    ? [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8].filter(n => n <= most)
    : [most / 2, most];
  return svg(
    "svg",
    { viewBox: `0 0 ${width} ${HEIGHT}`, class: "histogram", role: "img", "aria-label": title },
    heights.map(count => [
      svg("line", {
        x1: MARGIN.left,
        x2: width - MARGIN.right,
        y1: y(scale(count)),
        y2: y(scale(count)),
        class: "chart-grid",
      }),
      svg("text", { x: MARGIN.left - 6, y: y(scale(count)) + 4, class: "chart-left" }, short(count)),
    ]),
    bins.map((count, bin) =>
      count
        ? svg(
            "rect",
            {
              x: x(bin) + 0.5,
              width: Math.max(step - 1, 0.7),
              y: y(scale(count)),
              height: Math.max(inner.height * scale(count), 0.8),
              class: "chart-bar",
            },
            svg("title", {}, t("statistics.bar", { moves: range(bin), count: number(count) })),
          )
        : null,
    ),
    bins.map((_, bin) =>
      bin % labelEvery
        ? null
        : svg(
            "text",
            { x: x(bin) + step / 2, y: HEIGHT - MARGIN.bottom + 15, class: "chart-below" },
            number(bin * size),
          ),
    ),
    svg("text", { x: width - MARGIN.right, y: HEIGHT - 4, class: "chart-left" }, t("statistics.inMoves")),
  );
}

/** @param {number} count */
const short = count =>
  Intl.NumberFormat(document.documentElement.lang, {
    notation: "compact",
    maximumSignificantDigits: 2,
  }).format(count);

const GRAPH_HEIGHT = 5;
const GRAPH_WIDTH = 24;
/**
 * The height of an outcome for White. Unknown outcomes leave a gap.
 *
 * @type {Partial<Record<Outcome | RulesOutcome, number>>}
 */
const LEVELS = {
  win: 2,
  "maybe-win": 1,
  "cursed-win": 1,
  draw: 0,
  "blessed-loss": -1,
  "maybe-loss": -1,
  loss: -2,
};

/**
 * The height of an outcome of the side to move.
 *
 * @param {Outcome | RulesOutcome} outcome
 * @param {Side} turn
 */
function levelOf(outcome, turn) {
  const level = LEVELS[outcome] ?? null;
  return level === null || turn === "white" ? level : -level;
}

/**
 * The graph of a game: its outcomes ply by ply, White above. It takes clicks; by keyboard the score sheet
 * does the same.
 *
 * @param {object} game
 * @param {GameState[]} game.states the states of the game, the first before any move
 * @param {number[]} game.mistakes the plies of the mistakes
 * @param {number} game.current the ply on the board
 * @param {(ply: number) => void} game.go called for the clicked ply
 */
export function gameGraph({ states, mistakes, current, go }) {
  const plies = Math.max(states.length - 1, 1);
  const x = (/** @type {number} */ ply) => (ply / plies) * GRAPH_WIDTH;
  const y = (/** @type {number | null} */ level) => GRAPH_HEIGHT / 2 - (level ?? 0);
  const rules = states.map(({ rules_outcome: outcome, turn }) => levelOf(outcome, turn));
  const board = states.map(({ board_outcome: outcome, turn }) => levelOf(outcome, turn));
  const graph = svg(
    "svg",
    {
      viewBox: `-.3 -.2 ${GRAPH_WIDTH + 0.6} ${GRAPH_HEIGHT + 0.4}`,
      class: "graph",
      role: "img",
      "aria-label": t("game.graph", { n: states.length - 1, m: mistakes.length }),
    },
    svg("rect", { x: 0, y: 0, width: GRAPH_WIDTH, height: GRAPH_HEIGHT / 2, class: "graph-white" }),
    svg("rect", {
      x: 0,
      y: GRAPH_HEIGHT / 2,
      width: GRAPH_WIDTH,
      height: GRAPH_HEIGHT / 2,
      class: "graph-black",
    }),
    runs(rules).map(run => svg("path", { d: area(run, rules, x, y), class: "graph-area" })),
    svg("line", { x1: 0, x2: GRAPH_WIDTH, y1: y(0), y2: y(0), class: "graph-axis" }),
    runs(board).map(run => svg("path", { d: steps(run, board, x, y), class: "graph-board" })),
    runs(rules).map(run => svg("path", { d: steps(run, rules, x, y), class: "graph-line" })),
    svg("line", { x1: x(current), x2: x(current), y1: 0, y2: GRAPH_HEIGHT, class: "graph-now" }),
    mistakes
      .filter(ply => rules[ply] !== null)
      .map(ply =>
        svg(
          "circle",
          { cx: x(ply), cy: y(rules[ply]), r: 0.24, class: "graph-mistake", "data-ply": ply },
          svg("title", {}, t("game.mistakeAt", { ply })),
        ),
      ),
  );
  graph.addEventListener("click", event => {
    const box = graph.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * (GRAPH_WIDTH + 0.6) - 0.3;
    go(Math.min(plies, Math.max(0, Math.round((at / GRAPH_WIDTH) * plies))));
  });
  return graph;
}

/**
 * The runs of plies without a gap, as [first, last].
 *
 * @param {Levels} levels
 */
function runs(levels) {
  /** @type {[number, number][]} */
  const found = [];
  levels.forEach((level, ply) => {
    if (level === null) return;
    const run = found.at(-1);
    if (run?.[1] === ply - 1) run[1] = ply;
    else found.push([ply, ply]);
  });
  return found;
}

/**
 * The path of a line that changes half-way between two plies.
 *
 * @param {[number, number]} run
 * @param {Levels} levels
 * @param {Scale} x
 * @param {(level: number | null) => number} y
 */
function steps([first, last], levels, x, y) {
  let path = `M${x(first)} ${y(levels[first])}`;
  for (let ply = first + 1; ply <= last; ply++) path += `H${x(ply - 0.5)}V${y(levels[ply])}`;
  return `${path}H${x(last)}`;
}

/**
 * The path of the area between such a line and the axis.
 *
 * @param {[number, number]} run
 * @param {Levels} levels
 * @param {Scale} x
 * @param {(level: number | null) => number} y
 */
const area = (run, levels, x, y) => `${steps(run, levels, x, y)}V${y(0)}H${x(run[0])}Z`;
