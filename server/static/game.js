/**
 * A game in PDN: judged by the server, and described in words.
 *
 * @import { Child } from "./dom.js"
 * @import { GameProblem, GameReport } from "./api.js"
 */

import { askGames, kindOf, RefusedError, serverText } from "./api.js";
import { has, t } from "./i18n.js";
import { pdnHasNumbers } from "./position.js";
import { ruleNames } from "./verdict.js";

/** The longest text that the page reads, in bytes or letters. The limit of the server is lower. */
const LONGEST = 256 * 1024;

/**
 * Throw `RefusedError` if a text is too long.
 *
 * @param {number} length
 */
export function refuseTooLong(length) {
  if (length > LONGEST) throw new RefusedError("problem.status413");
}

/**
 * The games of a text, judged by the server. Throw `RefusedError` if the text has no game.
 *
 * @param {string} text
 * @param {string} ruleset
 * @param {string} numbering "" for none
 * @param {AbortSignal} signal
 */
export async function judge(text, ruleset, numbering, signal) {
  refuseTooLong(text.length);
  if (!text.trim()) throw new RefusedError("game.noText");
  const games = await judged(text, ruleset, numbering || null, signal);
  if (games.some(({ plies }) => plies.length)) return games;
  if (!numbering && pdnHasNumbers(text) && games.some(isUnread)) throw new RefusedError("numbering.needed");
  if (games.every(isNoGame)) throw new RefusedError("game.noMoves");
  return games;
}

/**
 * @param {string} text
 * @param {string} ruleset
 * @param {string | null} numbering
 * @param {AbortSignal} signal
 */
async function judged(text, ruleset, numbering, signal) {
  try {
    return (await askGames(text, ruleset, numbering, signal)).games;
  } catch (error) {
    throw kindOf(error) === "bad-body" ? new RefusedError("game.notTaken") : error;
  }
}

/** @param {GameReport} game */
const isUnread = ({ problems }) => problems.some(({ kind }) => kind.startsWith("unreadable-"));

/**
 * Whether a game has neither tags nor moves. The server reads any words as a game with an unreadable first
 * move.
 *
 * @param {GameReport} game
 */
const isNoGame = ({ tags, problems }) =>
  Object.keys(tags).length === 0 && !problems.some(({ kind }) => kind === "illegal-move");

/** @param {GameReport} game */
export function title({ tags, number }) {
  const players = tags.White && tags.Black ? `${tags.White} – ${tags.Black}` : null;
  return [players, tags.Event].filter(Boolean).join(", ") || t("game.untitled", { number });
}

/**
 * The number of a move in a score sheet.
 *
 * @param {GameReport} game
 * @param {number} ply
 */
export function moveNumber({ start }, ply) {
  const index = ply - 1 + (start?.turn === "black" ? 1 : 0);
  return `${Math.floor(index / 2) + 1}${index % 2 ? "…" : "."}`;
}

/**
 * How a game ended by the rules, and whether its written result agrees.
 *
 * @param {GameReport} game
 */
export function endingSentence({ ruleset, ending, result, agreement, written, plies }) {
  const n = plies.length;
  const last = plies.at(-1)?.after;
  const key = ending === "won" ? `won.${result}` : ending;
  const rules =
    ending === "drawn" && last
      ? ruleNames(
          last.rules.filter(rule => rule.fired),
          ruleset,
        )
      : "";
  const parts = [t(`game.ending.${key}`, { n, rules })];
  if (ending === "cut-short" && last && has(`game.playedOn.${last.rules_outcome}.${last.turn}`)) {
    parts.push(t(`game.playedOn.${last.rules_outcome}.${last.turn}`));
  }
  parts.push(t(`game.agreement.${agreement}`, { written: written ?? "" }));
  return parts.join(" ");
}

/**
 * A problem of the text of a game, and the server's message on it.
 *
 * @param {GameProblem} problem
 * @returns {Child[]}
 */
export const problemOf = ({ kind, line, move, message }) => [
  t("game.problemAt", { line, message: t(`game.problem.${kind}`, { move: move ?? "" }) }),
  " ",
  serverText(message),
];
