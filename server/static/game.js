/** A game in PDN: judged by the server, and described in words. */

import { askGames, kindOf, RefusedError, serverText } from "./api.js";
import { has, t } from "./i18n.js";
import { pdnHasNumbers } from "./position.js";
import { ruleNames } from "./verdict.js";

/** The longest text that is looked at at all, in bytes or letters; the server judges less. */
const LONGEST = 256 * 1024;

/** Raise the error that says that a text of such a length is too long, if it is. */
export function refuseTooLong(length) {
  if (length > LONGEST) throw new RefusedError("problem.status413");
}

/** The games of a text; `numbering` is "" where nothing is said of it. Raises `RefusedError` for what is no game. */
export async function judge(text, ruleset, numbering, signal) {
  refuseTooLong(text.length);
  if (!text.trim()) throw new RefusedError("game.noText");
  const games = await judged(text, ruleset, numbering || null, signal);
  if (games.some(({ plies }) => plies.length)) return games;
  if (!numbering && pdnHasNumbers(text) && games.some(isUnread)) throw new RefusedError("numbering.needed");
  if (games.every(isNoGame)) throw new RefusedError("game.noMoves");
  return games;
}

async function judged(text, ruleset, numbering, signal) {
  try {
    return (await askGames(text, ruleset, numbering, signal)).games;
  } catch (error) {
    throw kindOf(error) === "bad-body" ? new RefusedError("game.notTaken") : error;
  }
}

const isUnread = ({ problems }) => problems.some(({ kind }) => kind.startsWith("unreadable-"));

/** Whether nothing in a game looks like one: any words are a game to the server, whose first move cannot be read. */
const isNoGame = ({ tags, problems }) =>
  Object.keys(tags).length === 0 && !problems.some(({ kind }) => kind === "illegal-move");

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
  const n = plies.length;
  const last = plies.at(-1)?.after;
  const key = ending === "won" ? `won.${result}` : ending;
  const rules =
    ending === "drawn"
      ? ruleNames(
          last.rules.filter(rule => rule.fired),
          ruleset,
        )
      : "";
  const parts = [t(`game.ending.${key}`, { n, rules })];
  if (ending === "cut-short" && last && has(`game.playedOn.${last.rules_outcome}.${last.turn}`)) {
    parts.push(t(`game.playedOn.${last.rules_outcome}.${last.turn}`));
  }
  parts.push(t(`game.agreement.${agreement}`, { written }));
  return parts.join(" ");
}

/** Something wrong with the text, by its kind; what the server says besides names what it is about. */
export const problemOf = ({ kind, line, move, message }) => [
  t("game.problemAt", { line, message: t(`game.problem.${kind}`, { move: move ?? "" }) }),
  " ",
  serverText(message),
];
