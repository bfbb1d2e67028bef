/** A game counted anew from its start, under rules that it was not played under or that count moves, not positions. */

import { askGames, askPosition } from "./api.js";
import { FRESH, fieldsOf, withCounters } from "./position.js";
import { countsMoves } from "./verdict.js";

/** The FEN of the node that a game began with, with what was given of its counts: some rules count what others do not. */
function startOf({ fen, query, given = query }) {
  const { fen: text, numbering, ...counters } = given;
  return Object.keys(counters).length
    ? withCounters(fen, { ...FRESH, ...counters })
    : fen + fieldsOf(text).join("");
}

/**
 * The counters after a move. The server knows no earlier positions: how often this one has come up in the `earlier`
 * nodes of the game is counted here. Repeated moves are not.
 */
export function countedOn(earlier, fen, counters, ruleset) {
  if (countsMoves(ruleset)) return counters;
  const times = earlier.filter(node => node.fen === fen).map(node => node.counters.repetitions);
  return { ...FRESH, ...counters, repetitions: Math.max(counters.repetitions, Math.max(0, ...times) + 1) };
}

/** The counters of every node of a game under a ruleset. Errors are those of the server. */
export async function recounted(nodes, ruleset, signal) {
  const moves = nodes.slice(1).map(({ move }) => move.move);
  const pdn = `[FEN "${startOf(nodes[0])}"]\n\n${moves.join("\n")} *`;
  const [{ start, plies }] = (await askGames(pdn, ruleset, null, signal)).games;
  const stands = [start, ...plies.map(({ after }) => after)].map(({ fen, counters }) => ({ fen, counters }));
  // A judge goes no further than to the end of the game. Here it may have gone on, and is counted as that is.
  for (const name of moves.slice(plies.length)) {
    const { fen, counters } = stands.at(-1);
    const { moves: legal } = await askPosition({ fen: withCounters(fen, counters), ruleset }, signal);
    const { after } = legal.find(({ move }) => move === name);
    stands.push({ fen: after.fen, counters: countedOn(stands, after.fen, after.counters, ruleset) });
  }
  return stands.map(({ counters }) => counters);
}
