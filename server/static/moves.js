/**
 * Lists of moves: the legal moves of a position, and the score sheet of a game.
 *
 * @import { PositionReport, RuledMove, RulesOutcome } from "./api.js"
 * @import { Side } from "./position.js"
 *
 * @typedef {object} MoveActions
 * @property {(move: RuledMove | null) => unknown} point called for the move that has the pointer or the
 *   focus, with null when it loses them
 * @property {(move: RuledMove) => unknown} make called for the chosen move
 *
 * @typedef {{ text: string, mark?: string }} SheetMove
 */

import { html, replace } from "./dom.js";
import { t } from "./i18n.js";

/** @type {RulesOutcome[]} */
const GROUPS = ["win", "maybe-win", "draw", "maybe-loss", "loss", "unknown"];

/**
 * A distance in moves: half the plies, rounded up.
 *
 * @param {number} plies
 */
export const inMoves = plies => Math.ceil(plies / 2);

/**
 * Draw the moves of an answer, in groups of one outcome.
 *
 * @param {HTMLElement} element
 * @param {PositionReport} answer
 * @param {MoveActions} actions
 */
export function showMoves(element, answer, actions) {
  const groups = GROUPS.map(outcome => ({
    outcome,
    moves: answer.moves.filter(move => move.rules_outcome === outcome),
  })).filter(({ moves }) => moves.length);
  replace(
    element,
    groups.map(({ outcome, moves }) =>
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
          { class: moves.some(promise) ? null : "chips" },
          moves.map(move => html("li", {}, row(move, actions))),
        ),
      ),
    ),
  );
}

/**
 * @param {RuledMove} move
 * @param {MoveActions} actions
 */
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
    html("span", { class: "move-says" }, promise(move)),
    html("span", { class: "move-plies faint number" }, plies(move)),
  );
}

/**
 * What a move leads to, in moves.
 *
 * @param {RuledMove} move
 */
function promise({ outcome, rules_outcome: result, dtw }) {
  if (dtw === null) return outcome === "unknown" ? t("moves.says.unknown") : "";
  const n = inMoves(dtw);
  if (["win", "maybe-win"].includes(result)) return t("moves.says.win", { n });
  if (["loss", "maybe-loss"].includes(result)) return t("moves.says.loss", { n });
  return ["win", "cursed-win"].includes(outcome)
    ? t("moves.says.wonOnBoard", { n })
    : t("moves.says.lostOnBoard", { n });
}

/** @param {RuledMove} move */
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
 * @param {HTMLElement} element
 * @param {SheetMove[]} moves
 * @param {Side} turn the side of the first move
 * @param {number} current how many moves the board shows
 * @param {((count: number) => unknown) | null} go called for the chosen move; null if moves cannot be chosen
 * @param {number} faintAfter how many moves are not faint
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
    const attributes = { class: looks, "data-ply": index + 1, "aria-current": made ? "true" : null };
    const move = go
      ? html("button", { type: "button", onclick: () => go(index + 1), ...attributes }, text + (mark ?? ""))
      : html("span", attributes, text + (mark ?? ""));
    return label
      ? html("span", { class: "sheet-pair" }, html("span", { class: "sheet-number" }, label), move)
      : move;
  });
  replace(element, items);
  const now = /** @type {HTMLElement | null} */ (element.querySelector("[aria-current]"));
  // This scrolls the sheet, never the page.
  if (now) element.scrollTop = Math.max(0, now.offsetTop - element.clientHeight / 2);
}
