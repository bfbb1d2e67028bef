/** A text in PDN judged by the server, if there is something in it to be judged. */

import { askGames } from "./api.js";
import { pdnHasNumbers } from "./numbers.js";
import { kindOf, RefusedError } from "./problems.js";

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
