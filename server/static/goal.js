/**
 * The goal of a practice game: whether the player reached it, in words too.
 *
 * @import { PositionReport, RulesOutcome } from "./api.js"
 * @import { Side } from "./position.js"
 *
 * @typedef {"win" | "draw"} Goal
 *
 * @typedef {{ kind: "spoilt", from: RulesOutcome, to: RulesOutcome, better: string[] }
 *   | { kind: "slow", by: number, better: string[] }} Cost
 *   What a move cost the player: a win or a draw that it gave away, or the moves by which the win comes
 *   later.
 * @typedef {Cost & { ply: number, move: string }} Note
 *
 * @typedef {object} Practice A practice game, as data that the history of the browser can keep.
 * @property {Side} side the side of the player
 * @property {Goal | null} goal null until the server has answered
 * @property {Note[]} notes
 * @property {number} spoilt how many moves gave away a win or a draw
 * @property {number} helped how many hints the player took
 * @property {boolean} claimed whether the player claimed a draw
 * @property {Side | "draw" | null} result
 */

import { list, t } from "./i18n.js";
import { isOver, known, verdictSentence, winnerOf, worth } from "./verdict.js";

/**
 * A practice game at its beginning.
 *
 * @param {Side} side
 * @param {Goal | null} goal
 * @returns {Practice}
 */
export const newPractice = (side, goal) => ({
  side,
  goal,
  notes: [],
  spoilt: 0,
  helped: 0,
  claimed: false,
  result: null,
});

/**
 * What the player can reach from a position; null for a loss or an unknown outcome.
 *
 * @param {PositionReport} answer
 * @param {Side} side
 * @returns {Goal | null}
 */
export function goalFor(answer, side) {
  const outcome = worth(known(answer));
  const winner = winnerOf(outcome, answer.turn);
  if (winner !== null) return winner === side ? "win" : null;
  return outcome === "unknown" ? null : "draw";
}

/**
 * Whether the goal is out of reach without a mistake of the player: from the start, or by a change of the
 * rules.
 *
 * @param {PositionReport} answer
 * @param {Practice} practice
 */
export function isHopeless(answer, { side, goal, notes }) {
  const outcome = worth(known(answer));
  const winner = winnerOf(outcome, answer.turn);
  if (outcome === "unknown" || outcome.startsWith("maybe") || winner === side) return false;
  if (goal === null || notes.some(({ kind }) => kind === "spoilt")) return false;
  return goal === "win" || winner !== null;
}

/**
 * How the game ended: the winner or `draw`; null while it goes on.
 *
 * @param {PositionReport} answer
 * @param {Practice} practice
 * @returns {Side | "draw" | null}
 */
export function resultOf(answer, { side, goal, claimed }) {
  if (claimed) return "draw";
  if (answer.moves.length === 0) return answer.winner ?? winnerOf("loss", answer.turn);
  if (isOver(answer)) return "draw";
  // The tablebase claims a draw against a player who must win.
  const defends = answer.turn !== side && goal === "win";
  return answer.verdict === "claimable" && defends ? "draw" : null;
}

/** @param {Practice} practice */
export const success = ({ result, goal, side }) => result === side || (goal === "draw" && result === "draw");

/**
 * @param {Practice} practice
 * @param {PositionReport} answer
 */
export function resultSentence(practice, answer) {
  const { result, side, spoilt, helped } = practice;
  const how =
    result === "draw" && answer.verdict !== "drawn" ? t("practice.drawClaimed") : verdictSentence(answer);
  const head = result === side ? "won" : result !== "draw" ? "lost" : success(practice) ? "held" : "slipped";
  const parts = [t(`practice.${head}`), how, t("practice.mistakes", { n: spoilt })];
  if (helped) parts.push(t("practice.hints", { n: helped }));
  return parts.join(" ");
}

const MOST_NAMED = 4;

/** @param {Note} note */
export function noteSentence(note) {
  const { move, better } = note;
  const moves = better.length > MOST_NAMED ? `${better.slice(0, MOST_NAMED).join(", ")}…` : list(better);
  if (note.kind === "slow") return t("practice.slow", { move, n: note.by, better: moves });
  const { from, to } = note;
  const cost = { move, was: t(`outcome.${from}`), is: t(`outcome.${to}`) };
  return t("practice.spoilt", { ...cost, better: t(`practice.better.${from}`, { moves }) });
}
