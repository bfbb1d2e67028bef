/** Charts of the statistics: a bar of outcomes, a histogram of distances. */

import { html, svg } from "./dom.js";
import { number, percent, t } from "./i18n.js";

/** The outcomes in the order in which a bar has them, as the server names their counts. */
export const OUTCOMES = [
  ["win", "win"], ["cursed_win", "cursed-win"], ["draw", "draw"], ["blessed_loss", "blessed-loss"], ["loss", "loss"],
];

/** The shares of the outcomes of a material as a bar; null where they are not known. */
export function outcomeBar(material) {
  const total = OUTCOMES.reduce((sum, [field]) => sum + (material[field] ?? 0), 0);
  if (material.win === null || total === 0) return null;
  const parts = OUTCOMES.filter(([field]) => material[field]).map(([field, outcome]) => {
    const share = material[field] / total, text = `${t(`outcome.${outcome}`)} ${percent(share)}`;
    const part = html("span", { class: `bar-${outcome}`, title: `${text} (${number(material[field])})` });
    part.style.flexGrow = share;
    return { part, text };
  });
  return html("span", { class: "outcome-bar", role: "img", "aria-label": parts.map(({ text }) => text).join(", ") },
    parts.map(({ part }) => part));
}

/** How wide a picture is drawn: on a phone it is not to be made so small that its numbers cannot be read. */
const pictureWidth = () => (matchMedia("(max-width: 34rem)").matches ? 340 : 600);
const HEIGHT = 190;
const MARGIN = { left: 64, right: 10, top: 10, bottom: 34 };
const MOST_BARS = 90;

/** A histogram: `counts` by plies, from 0 on, gathered into moves, or into more where there are many. */
export function histogram(counts, { title, logarithmic }) {
  const moves = [];
  counts.forEach((count, plies) => { moves[Math.ceil(plies / 2)] = (moves[Math.ceil(plies / 2)] ?? 0) + count; });
  const size = Math.ceil(moves.length / MOST_BARS);
  const bins = [];
  moves.forEach((count, move) => { bins[Math.floor(move / size)] = (bins[Math.floor(move / size)] ?? 0) + count; });
  const most = Math.max(...bins, 1), width = pictureWidth();
  const scale = logarithmic ? count => Math.log1p(count) / Math.log1p(most) : count => count / most;
  const inner = { width: width - MARGIN.left - MARGIN.right, height: HEIGHT - MARGIN.top - MARGIN.bottom };
  const step = inner.width / bins.length;
  const x = bin => MARGIN.left + bin * step, y = share => MARGIN.top + inner.height * (1 - share);
  const range = bin => (size === 1 ? number(bin) : `${number(bin * size)}–${number((bin + 1) * size - 1)}`);
  const labelEvery = Math.max(1, Math.ceil(bins.length / 10));
  const heights = logarithmic ? [1, 10, 100, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8].filter(n => n <= most) : [most / 2, most];
  return svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, class: "histogram", role: "img", "aria-label": title },
    heights.map(count => [
      svg("line", { x1: MARGIN.left, x2: width - MARGIN.right, y1: y(scale(count)), y2: y(scale(count)), class: "chart-grid" }),
      svg("text", { x: MARGIN.left - 6, y: y(scale(count)) + 4, class: "chart-left" }, short(count))]),
    bins.map((count, bin) => count ? svg("rect", { x: x(bin) + 0.5, width: Math.max(step - 1, 0.7), y: y(scale(count)),
      height: Math.max(inner.height * scale(count), 0.8), class: "chart-bar" },
    svg("title", {}, t("statistics.bar", { moves: range(bin), count: number(count) }))) : null),
    bins.map((_, bin) => bin % labelEvery ? null
      : svg("text", { x: x(bin) + step / 2, y: HEIGHT - MARGIN.bottom + 15, class: "chart-below" }, number(bin * size))),
    svg("text", { x: width - MARGIN.right, y: HEIGHT - 4, class: "chart-left" }, t("statistics.inMoves")));
}

const short = count => Intl.NumberFormat(document.documentElement.lang,
  { notation: "compact", maximumSignificantDigits: 2 }).format(count);
