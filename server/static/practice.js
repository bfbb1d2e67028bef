/**
 * Practice without drawing: the classes of endgames, positions worth playing, mistakes, the best defence.
 *
 * @import { PositionReport, RuledMove, RulesOutcome } from "./api.js"
 * @import { Cost, Goal } from "./goal.js"
 * @import { Position } from "./position.js"
 *
 * @typedef {object} Wanted Which positions to play.
 * @property {string} material the side of the player first
 * @property {Goal} outcome the goal of the player
 * @property {(position: Position) => boolean} [where] a condition on the position
 * @property {number} [shortest] the shortest distance to the end, in plies
 */

import { askPosition, askPositions, askRandom } from "./api.js";
import { inMoves } from "./moves.js";
import { parseFen, withCounters } from "./position.js";

const ROAD = new Set(["a1", "b2", "c3", "d4", "e5", "f6", "g7", "h8"]);
const TRIES = 60;
const SHORTEST_PLIES = 5;

/**
 * The classes of endgames.
 *
 * @type {(Wanted & { id: string })[]}
 */
export const CLASSES = [
  { id: "threeKings", material: "KKKvK", outcome: "win" },
  { id: "roadKings", material: "KKKvK", outcome: "win", where: onRoad, shortest: 3 },
  { id: "roadKingsMan", material: "KKMvK", outcome: "win", where: onRoad },
  { id: "holdRoad", material: "KvKKK", outcome: "draw", where: onRoad },
  { id: "kingsAndMan", material: "KKMvK", outcome: "win" },
  { id: "kingAndMen", material: "KMMvK", outcome: "win" },
  { id: "kingAndMan", material: "KMvK", outcome: "win" },
  { id: "kingsAgainstMan", material: "KKvKM", outcome: "win" },
  { id: "holdKingsAndMan", material: "KvKKM", outcome: "draw" },
  { id: "holdKingAndMen", material: "KvKMM", outcome: "draw" },
  { id: "men", material: "MMvMM", outcome: "win" },
  { id: "five", material: "KKMvKM", outcome: "win" },
  { id: "twoAgainstThree", material: "KKvKKK", outcome: "draw" },
];

/**
 * Whether one side has only a king, on the main road.
 *
 * @param {Position} position
 */
function onRoad({ pieces }) {
  const sides = ["white", "black"].map(side => [...pieces].filter(([, piece]) => piece.side === side));
  return sides.some(own => own.length === 1 && own[0][1].king && ROAD.has(own[0][0]));
}

/** @type {RulesOutcome[]} */
const RANKS = ["loss", "maybe-loss", "draw", "maybe-win", "win"];
/** @param {RulesOutcome} outcome */
const rank = outcome => RANKS.indexOf(outcome);

/**
 * A random position of a class, null if no position fits.
 *
 * Of some tries it takes the first position that is worth playing, else the one with the longest distance.
 *
 * @param {Wanted} wanted
 * @param {string} ruleset
 * @param {AbortSignal} signal
 */
export async function findPosition({ material, outcome, where, shortest = SHORTEST_PLIES }, ruleset, signal) {
  /** @type {{ fen: string | null, dtw: number }} */
  let longest = { fen: null, dtw: -1 };
  for (let tried = 0; tried < TRIES; tried++) {
    const { fen } = await askRandom(material, outcome, signal);
    const position = parseFen(fen);
    if (where && !(position && where(position))) continue;
    const answer = await askPosition({ fen, ruleset }, signal);
    if (answer.rules_outcome !== outcome || !answer.moves.length) continue;
    if (isWorthPlaying(answer, shortest)) return fen;
    if ((answer.dtw ?? 0) > longest.dtw) longest = { fen, dtw: answer.dtw ?? 0 };
  }
  return longest.fen;
}

/**
 * Whether a position is worth playing: some move spoils it, and its end is not too near.
 *
 * @param {PositionReport} answer
 * @param {number} shortest
 */
function isWorthPlaying({ moves, rules_outcome: outcome, dtw }, shortest) {
  return moves.some(move => rank(move.rules_outcome) < rank(outcome)) && (dtw === null || dtw >= shortest);
}

/**
 * What a move cost the player who made it; null for a good move.
 *
 * @param {PositionReport} answer
 * @param {RuledMove} move
 * @returns {Cost | null}
 */
export function costOf(answer, move) {
  const best = answer.moves.reduce((most, each) => Math.max(most, rank(each.rules_outcome)), -1);
  const got = rank(move.rules_outcome);
  if (got >= 0 && got < best) {
    const better = answer.moves.filter(each => rank(each.rules_outcome) === best).map(each => each.move);
    return { kind: "spoilt", from: RANKS[best], to: move.rules_outcome, better };
  }
  if (move.rules_outcome !== "win" || move.dtw === null) return null;
  const soonest = bestMove(answer);
  if (soonest.dtw === null) return null;
  const by = inMoves(move.dtw) - inMoves(soonest.dtw);
  return by > 0 ? { kind: "slow", by, better: [soonest.move] } : null;
}

/**
 * The move with the least DTW times `sign`, the first of equals. The moves all win or all lose under the
 * rules.
 *
 * @param {RuledMove[]} moves
 * @param {1 | -1} sign
 */
function byLength(moves, sign) {
  const length = (/** @type {RuledMove} */ { dtw }) => (dtw === null ? Infinity : sign * dtw);
  return moves.reduce((best, each) => (length(each) < length(best) ? each : best));
}

/**
 * A best move: the fastest win, or the slowest loss if all moves lose, else the first move of the server's
 * order.
 *
 * @param {PositionReport} answer
 * @returns {RuledMove}
 */
export function bestMove({ moves }) {
  const winning = moves.filter(each => each.rules_outcome === "win");
  if (winning.length) return byLength(winning, 1);
  return moves.every(each => each.rules_outcome === "loss") ? byLength(moves, -1) : moves[0];
}

/**
 * The reply of the tablebase: its best move. If several moves keep a draw, the one after which the smallest
 * share of the player's moves keeps it.
 *
 * @param {PositionReport} answer
 * @param {string} ruleset
 * @param {AbortSignal} signal
 */
export async function replyTo(answer, ruleset, signal) {
  const first = bestMove(answer);
  const alike = answer.moves.filter(
    move => move.rules_outcome === first.rules_outcome && move.outcome === first.outcome,
  );
  if (first.rules_outcome !== "draw" || alike.length === 1) return first;
  const fens = alike.map(({ after }) => withCounters(after.fen, after.counters));
  const { results } = await askPositions(fens, ruleset, signal);
  const ease = results.map(result =>
    "position" in result && result.position.moves.length ? shareKept(result.position) : 1,
  );
  const least = Math.min(...ease);
  const hardest = alike.filter((_, index) => ease[index] === least);
  return hardest[Math.floor(Math.random() * hardest.length)];
}

/**
 * The share of moves that keep the outcome.
 *
 * @param {PositionReport} answer
 */
function shareKept({ moves }) {
  const best = Math.max(...moves.map(move => rank(move.rules_outcome)));
  return moves.filter(move => rank(move.rules_outcome) === best).length / moves.length;
}
