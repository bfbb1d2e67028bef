/** Practice without its looks: the classes of endgames, positions worth playing, mistakes, the best defence. */

import { askPosition, askPositions, askRandom } from "./api.js";
import { inMoves } from "./moves.js";
import { parseFen, withCounters } from "./position.js";

const ROAD = new Set(["a1", "b2", "c3", "d4", "e5", "f6", "g7", "h8"]);
const TRIES = 60;
const SHORTEST_PLIES = 5;

/** What can be practised: material with the player's side first, and what the player is to get from it. */
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

/** Whether one side has a single king, on the main road. */
function onRoad({ pieces }) {
  const sides = ["white", "black"].map(side => [...pieces].filter(([, piece]) => piece.side === side));
  return sides.some(own => own.length === 1 && own[0][1].king && ROAD.has(own[0][0]));
}

const RANKS = ["loss", "maybe-loss", "draw", "maybe-win", "win"];
const rank = outcome => RANKS.indexOf(outcome);

/**
 * A random position of a class: not won at once or by any move, if such a one is found in some tries; else the longest.
 *
 * Null where none was found that fits; errors are those of the server.
 */
export async function findPosition({ material, outcome, where, shortest = SHORTEST_PLIES }, ruleset, signal) {
  let longest = { fen: null, dtw: -1 };
  for (let tried = 0; tried < TRIES; tried++) {
    const { fen } = await askRandom(material, outcome, signal);
    if (where && !where(parseFen(fen))) continue;
    const answer = await askPosition({ fen, ruleset }, signal);
    if (answer.rules_outcome !== outcome || !answer.moves.length) continue;
    if (isWorthPlaying(answer, shortest)) return fen;
    if ((answer.dtw ?? 0) > longest.dtw) longest = { fen, dtw: answer.dtw ?? 0 };
  }
  return longest.fen;
}

/** Whether there is something to find: a move that spoils it, and no end within a move or two. */
function isWorthPlaying({ moves, rules_outcome: outcome, dtw }, shortest) {
  return moves.some(move => rank(move.rules_outcome) < rank(outcome)) && (dtw === null || dtw >= shortest);
}

/**
 * What a move cost the player who made it: `{kind: "spoilt", from, to, better}` where it gave away a win or a draw,
 * `{kind: "slow", by}` where it wins, and so many moves later than it could; null for a good move.
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
  const by = inMoves(move.dtw) - inMoves(soonest.dtw);
  return by > 0 ? { kind: "slow", by, better: [soonest.move] } : null;
}

/** Of moves that all win or all lose under the rules, the one with the least DTW times `sign`; the first if alike. */
const byLength = (moves, sign) =>
  moves
    .filter(({ dtw }) => dtw !== null)
    .reduce((best, each) => (best && sign * best.dtw <= sign * each.dtw ? best : each), null) ?? moves[0];

/**
 * A best move for whoever is to move: of those that win the one that wins soonest, where all lose the one that loses
 * latest; else the first, as the server has the best first.
 */
export function bestMove({ moves }) {
  const winning = moves.filter(each => each.rules_outcome === "win");
  if (winning.length) return byLength(winning, 1);
  return moves.every(each => each.rules_outcome === "loss") ? byLength(moves, -1) : moves[0];
}

/**
 * The tablebase's reply: its best move. Where several keep a draw, the one that leaves the player the fewest moves
 * that keep it, as a share of those there are.
 */
export async function replyTo(answer, ruleset, signal) {
  const first = bestMove(answer);
  const alike = answer.moves.filter(
    move => move.rules_outcome === first.rules_outcome && move.outcome === first.outcome,
  );
  if (first.rules_outcome !== "draw" || alike.length === 1) return first;
  const fens = alike.map(({ after }) => withCounters(after.fen, after.counters));
  const { results } = await askPositions(fens, ruleset, signal);
  const ease = results.map(({ position }) => (position?.moves.length ? shareKept(position) : 1));
  const least = Math.min(...ease);
  const hardest = alike.filter((_, index) => ease[index] === least);
  return hardest[Math.floor(Math.random() * hardest.length)];
}

function shareKept({ moves }) {
  const best = Math.max(...moves.map(move => rank(move.rules_outcome)));
  return moves.filter(move => rank(move.rules_outcome) === best).length / moves.length;
}
