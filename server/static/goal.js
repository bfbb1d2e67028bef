/** The task of a practice: what is to be reached, whether it has been, and how that is told. */

import { list, t } from "./i18n.js";
import { isOver, known, verdictSentence, winnerOf, worth } from "./verdict.js";

/** A practice that begins: its text alone, as the history of the browser keeps it. */
export const newPractice = (side, goal) => ({
  side,
  goal,
  notes: [],
  spoilt: 0,
  helped: 0,
  claimed: false,
  result: null,
});

/** What the player can get from a position: a win or a draw; null for a loss, and where it is not known. */
export function goalFor(answer, side) {
  const outcome = worth(known(answer));
  const winner = winnerOf(outcome, answer.turn);
  if (winner !== null) return winner === side ? "win" : null;
  return outcome === "unknown" ? null : "draw";
}

/**
 * Whether the task is out of reach for certain and by no mistake of the player: as it was set, or since the rules were
 * changed.
 */
export function isHopeless(answer, { side, goal, notes }) {
  const outcome = worth(known(answer));
  const winner = winnerOf(outcome, answer.turn);
  if (outcome === "unknown" || outcome.startsWith("maybe") || winner === side) return false;
  if (goal === null || notes.some(({ kind }) => kind === "spoilt")) return false;
  return goal === "win" || winner !== null;
}

/** How the game ended: the winning side or `draw`; null while it goes on. */
export function resultOf(answer, { side, goal, claimed }) {
  if (claimed) return "draw";
  if (answer.moves.length === 0) return answer.winner ?? winnerOf("loss", answer.turn);
  if (isOver(answer)) return "draw";
  // The tablebase claims a draw where it would lose; so it does where the player wants no more.
  const defends = answer.turn !== side && goal === "win";
  return answer.verdict === "claimable" && defends ? "draw" : null;
}

export const success = ({ result, goal, side }) => result === side || (goal === "draw" && result === "draw");

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

export function noteSentence({ kind, move, from, to, better, by }) {
  const moves = better.length > MOST_NAMED ? `${better.slice(0, MOST_NAMED).join(", ")}…` : list(better);
  if (kind === "slow") return t("practice.slow", { move, n: by, better: moves });
  const cost = { move, was: t(`outcome.${from}`), is: t(`outcome.${to}`) };
  return t("practice.spoilt", { ...cost, better: t(`practice.better.${from}`, { moves }) });
}
