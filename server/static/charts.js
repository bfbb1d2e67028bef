/** Charts of the statistics: a bar of outcomes, a histogram of distances. */

import { html, svg } from "./dom.js";
import { number, percent, t } from "./i18n.js";

/** The outcomes in the order in which a bar has them, as the server names their counts. */
export const OUTCOMES = [
  ["win", "win"],
  ["cursed_win", "cursed-win"],
  ["draw", "draw"],
  ["blessed_loss", "blessed-loss"],
  ["loss", "loss"],
];

/** The shares of the outcomes of a material as a bar; null where they are not known. */
export function outcomeBar(material) {
  const total = OUTCOMES.reduce((sum, [field]) => sum + (material[field] ?? 0), 0);
  if (material.win === null || total === 0) return null;
  const parts = OUTCOMES.filter(([field]) => material[field]).map(([field, outcome]) => {
    const share = material[field] / total;
    const text = `${t(`outcome.${outcome}`)} ${percent(share)}`;
    const part = html("span", { class: `bar-${outcome}`, title: `${text} (${number(material[field])})` });
    part.style.flexGrow = share;
    return { part, text };
  });
  return html(
    "span",
    { class: "outcome-bar", role: "img", "aria-label": parts.map(({ text }) => text).join(", ") },
    parts.map(({ part }) => part),
  );
}

/** How wide a picture is drawn: on a phone it is not to be made so small that its numbers cannot be read. */
const pictureWidth = () => (matchMedia("(max-width: 34rem)").matches ? 340 : 600);
const HEIGHT = 190;
const MARGIN = { left: 64, right: 10, top: 10, bottom: 34 };
const MOST_BARS = 90;

/** A histogram: `counts` by plies, from 0 on, gathered into moves, or into more where there are many. */
export function histogram(counts, { title, logarithmic }) {
  const moves = [];
  counts.forEach((count, plies) => {
    moves[Math.ceil(plies / 2)] = (moves[Math.ceil(plies / 2)] ?? 0) + count;
  });
  const size = Math.ceil(moves.length / MOST_BARS);
  const bins = [];
  moves.forEach((count, move) => {
    bins[Math.floor(move / size)] = (bins[Math.floor(move / size)] ?? 0) + count;
  });
  const most = Math.max(...bins, 1);
  const width = pictureWidth();
  const scale = logarithmic ? count => Math.log1p(count) / Math.log1p(most) : count => count / most;
  const inner = { width: width - MARGIN.left - MARGIN.right, height: HEIGHT - MARGIN.top - MARGIN.bottom };
  const step = inner.width / bins.length;
  const x = bin => MARGIN.left + bin * step;
  const y = share => MARGIN.top + inner.height * (1 - share);
  const range = bin => (size === 1 ? number(bin) : `${number(bin * size)}–${number((bin + 1) * size - 1)}`);
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

const short = count =>
  Intl.NumberFormat(document.documentElement.lang, {
    notation: "compact",
    maximumSignificantDigits: 2,
  }).format(count);

const GRAPH_HEIGHT = 5;
const GRAPH_WIDTH = 24;
/** How high an outcome for White stands; what is unknown leaves a gap. */
const LEVELS = {
  win: 2,
  "maybe-win": 1,
  "cursed-win": 1,
  draw: 0,
  "blessed-loss": -1,
  "maybe-loss": -1,
  loss: -2,
};
const MIRRORED = {
  win: "loss",
  loss: "win",
  "maybe-win": "maybe-loss",
  "maybe-loss": "maybe-win",
  "cursed-win": "blessed-loss",
  "blessed-loss": "cursed-win",
  draw: "draw",
  unknown: "unknown",
};

/** An outcome of the side to move, as it is for White. */
const forWhite = (outcome, turn) => (turn === "white" ? outcome : (MIRRORED[outcome] ?? "unknown"));

/**
 * The graph.
 *
 * `stands` are those of a game, the first before any move; `mistakes` the plies of mistakes; `current` the ply that is
 * on the board; `go(ply)` is called for one that is clicked. The keyboard has the score sheet for that.
 */
export function gameGraph({ stands, mistakes, current, go }) {
  const plies = Math.max(stands.length - 1, 1);
  const x = ply => (ply / plies) * GRAPH_WIDTH;
  const y = level => GRAPH_HEIGHT / 2 - level;
  const rules = stands.map(({ rules_outcome: outcome, turn }) => LEVELS[forWhite(outcome, turn)] ?? null);
  const board = stands.map(({ board_outcome: outcome, turn }) => LEVELS[forWhite(outcome, turn)] ?? null);
  const graph = svg(
    "svg",
    {
      viewBox: `-.3 -.2 ${GRAPH_WIDTH + 0.6} ${GRAPH_HEIGHT + 0.4}`,
      class: "graph",
      role: "img",
      "aria-label": t("game.graph", { n: stands.length - 1, m: mistakes.length }),
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
