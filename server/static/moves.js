/** The legal moves, grouped by what they lead to, with their distances. */

import { html, replace } from "./dom.js";
import { t } from "./i18n.js";

const GROUPS = ["win", "maybe-win", "draw", "maybe-loss", "loss", "unknown"];

/** A distance in moves: half the plies, rounded up. */
export const inMoves = plies => (plies === null ? null : Math.ceil(plies / 2));

/**
 * Draw the moves of an answer.
 *
 * `point(move)` is called when one is pointed at or has the keyboard, and with null after that; `make(move)` when it
 * is chosen.
 */
export function showMoves(element, answer, { point, make }) {
  const groups = GROUPS.map(outcome => [
    outcome,
    answer.moves.filter(move => groupOf(move) === outcome),
  ]).filter(([, moves]) => moves.length);
  replace(
    element,
    groups.map(([outcome, moves]) =>
      html(
        "section",
        { class: "move-group", "data-outcome": outcome },
        html(
          "h4",
          { class: outcome },
          t(`moves.group.${outcome}`),
          " ",
          html("span", { class: "faint" }, `(${moves.length})`),
        ),
        html(
          "ul",
          { class: moves.some(says) ? null : "chips" },
          moves.map(move => html("li", {}, row(move, { point, make }))),
        ),
      ),
    ),
  );
}

const groupOf = ({ rules_outcome: outcome }) => (GROUPS.includes(outcome) ? outcome : "unknown");

function row(move, { point, make }) {
  return html(
    "button",
    {
      type: "button",
      class: "move",
      "data-move": move.move,
      onclick: () => make(move),
      onpointerenter: () => point(move),
      onpointerleave: () => point(null),
      onfocus: () => point(move),
      onblur: () => point(null),
    },
    html("span", { class: "move-text" }, move.move),
    html("span", { class: "move-says" }, says(move)),
    html("span", { class: "move-plies faint number" }, plies(move)),
  );
}

/** What a move leads to, in moves. */
function says({ outcome, rules_outcome: result, dtw }) {
  const n = inMoves(dtw);
  if (n === null) return outcome === "unknown" ? t("moves.says.unknown") : "";
  if (["win", "maybe-win"].includes(result)) return t("moves.says.win", { n });
  if (["loss", "maybe-loss"].includes(result)) return t("moves.says.loss", { n });
  return ["win", "cursed-win"].includes(outcome)
    ? t("moves.says.wonOnBoard", { n })
    : t("moves.says.lostOnBoard", { n });
}

const plies = ({ dtw, dtc }) =>
  [
    ["DTW", dtw],
    ["DTC", dtc],
  ]
    .filter(([, value]) => value !== null)
    .map(([name, value]) => `${name} ${value}`)
    .join(" · ");

/**
 * Draw a score sheet.
 *
 * `moves` are `{text, mark}`, the first one of `turn`; `current` is how many of them are made on the board;
 * `go(count)` is called for one that is chosen; null: none can be. What comes after `faintAfter` is shown fainter.
 */
export function showScoreSheet(element, moves, turn, current, go, faintAfter = Infinity) {
  const begins = turn === "black" ? 1 : 0;
  const items = moves.flatMap(({ text, mark }, index) => {
    const ply = index + begins;
    const made = index + 1 === current;
    const label = ply % 2 === 0 ? `${ply / 2 + 1}.` : index === 0 ? `${(ply + 1) / 2}…` : null;
    const looks = ["sheet-move", mark && "sheet-mistake", index >= faintAfter && "sheet-ahead"]
      .filter(Boolean)
      .join(" ");
    const told = { class: looks, "data-ply": index + 1, "aria-current": made ? "true" : null };
    const move = go
      ? html("button", { type: "button", onclick: () => go(index + 1), ...told }, text + (mark ?? ""))
      : html("span", told, text + (mark ?? ""));
    return label
      ? html("span", { class: "sheet-pair" }, html("span", { class: "sheet-number" }, label), move)
      : move;
  });
  replace(element, items);
  const now = element.querySelector("[aria-current]");
  // Scrolls the sheet, never the page.
  if (now) element.scrollTop = Math.max(0, now.offsetTop - element.clientHeight / 2);
}
