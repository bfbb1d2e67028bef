/**
 * The counters of a game, counted again from its start: for rules under which it was not played, and for
 * rules that count moves instead of positions.
 *
 * @import { Counters } from "./position.js"
 * @import { GameNode } from "./session.js"
 *
 * @typedef {{ fen: string | null, counters: Counters | null }} Counted
 */

import { askGames, askPosition } from "./api.js";
import { FRESH, fieldsOf, withCounters } from "./position.js";
import { countsMoves } from "./verdict.js";

/**
 * The FEN of the first node, with the counters that were given for it: some rules count what others do not.
 *
 * @param {GameNode} node
 */
function startOf({ fen, query, given = query }) {
  const { fen: text, numbering, ...counters } = given;
  const start = fen ?? text;
  return Object.keys(counters).length
    ? withCounters(start, { ...FRESH, .../** @type {Record<string, string>} */ (counters) })
    : start + fieldsOf(text).join("");
}

/**
 * The counters after a move. The server does not know the earlier positions: the page counts how often the
 * new one is among the `earlier` nodes. It does not count repeated moves.
 *
 * @param {Counted[]} earlier
 * @param {string} fen
 * @param {Counters} counters
 * @param {string} ruleset
 * @returns {Counters}
 */
export function countedOn(earlier, fen, counters, ruleset) {
  if (countsMoves(ruleset)) return counters;
  const times = earlier.filter(node => node.fen === fen).map(node => node.counters?.repetitions ?? 0);
  return { ...FRESH, ...counters, repetitions: Math.max(counters.repetitions, Math.max(0, ...times) + 1) };
}

/**
 * The counters of every node of a game under a ruleset.
 *
 * @param {GameNode[]} nodes
 * @param {string} ruleset
 * @param {AbortSignal} signal
 */
export async function recounted(nodes, ruleset, signal) {
  const moves = nodes.flatMap(({ move }) => (move ? [move.move] : []));
  const pdn = `[FEN "${startOf(nodes[0])}"]\n\n${moves.join("\n")} *`;
  const [{ start, plies }] = (await askGames(pdn, ruleset, null, signal)).games;
  if (!start) throw new Error(`the server cannot read the position ${nodes[0].fen}`);
  const states = [start, ...plies.map(({ after }) => after)].map(({ fen, counters }) => ({ fen, counters }));
  // The judged game stops where the rules end it. The game on the board may go on, and its moves count too.
  for (const name of moves.slice(plies.length)) {
    const { fen, counters } = states[states.length - 1];
    const { moves: legal } = await askPosition({ fen: withCounters(fen, counters), ruleset }, signal);
    const move = legal.find(each => each.move === name);
    if (!move) throw new Error(`the move ${name} is not legal in ${fen}`);
    const { after } = move;
    states.push({ fen: after.fen, counters: countedOn(states, after.fen, after.counters, ruleset) });
  }
  return states.map(({ counters }) => counters);
}
