/** A judged game in words: its name, how it ended, what is wrong with its text. */

import { has, t } from "./i18n.js";
import { serverText } from "./problems.js";
import { ruleNames } from "./verdict.js";

export function title({ tags, number }) {
  const players = tags.White && tags.Black ? `${tags.White} – ${tags.Black}` : null;
  return [players, tags.Event].filter(Boolean).join(", ") || t("game.untitled", { number });
}

/** The number of a move as a score sheet has it. */
export function moveNumber({ start }, ply) {
  const index = ply - 1 + (start.turn === "black" ? 1 : 0);
  return `${Math.floor(index / 2) + 1}${index % 2 ? "…" : "."}`;
}

/** How a game ended by the rules, and what its written result is beside that. */
export function endingSentence({ ruleset, ending, result, agreement, written, plies }) {
  const n = plies.length, last = plies.at(-1)?.after;
  const key = ending === "won" ? `won.${result}` : ending;
  const rules = ending === "drawn" ? ruleNames(last.rules.filter(rule => rule.fired), ruleset) : "";
  const parts = [t(`game.ending.${key}`, { n, rules })];
  if (ending === "cut-short" && last && has(`game.playedOn.${last.rules_outcome}.${last.turn}`)) {
    parts.push(t(`game.playedOn.${last.rules_outcome}.${last.turn}`));
  }
  parts.push(t(`game.agreement.${agreement}`, { written }));
  return parts.join(" ");
}

/** Something wrong with the text, by its kind; what the server says besides names what it is about. */
export const problemOf = ({ kind, line, move, message }) => [
  t("game.problemAt", { line, message: t(`game.problem.${kind}`, { move: move ?? "" }) }), " ", serverText(message),
];
