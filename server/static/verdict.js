/**
 * The value of a position in sentences, and the names of rules and rulesets.
 *
 * @import { Outcome, PositionReport, RulesetReport, RulesOutcome, RuleState } from "./api.js"
 * @import { Side } from "./position.js"
 *
 * @typedef {PositionReport & { fromMoves?: boolean }} Analysis
 *   An answer of the server; `fromMoves` if no table has the position, and its moves gave the outcome.
 */

import { askRulesets } from "./api.js";
import { html, replace } from "./dom.js";
import { has, list, t } from "./i18n.js";
import { otherSide, parseFen, SIDES } from "./position.js";

/**
 * An answer with the outcome that its moves give, if no table has its position.
 *
 * @param {PositionReport} answer
 * @returns {Analysis}
 */
export function known(answer) {
  const { outcome, outcome_from_moves: fromMoves } = answer;
  if (outcome !== "unknown" || fromMoves === "unknown") return answer;
  return { ...answer, outcome: fromMoves, fromMoves: true };
}

/**
 * The outcome for the side to move under the rules, with the counters of the game.
 *
 * @param {PositionReport} answer
 * @returns {RulesOutcome}
 */
export const worth = answer =>
  answer.rules_outcome !== "unknown" ? answer.rules_outcome : answer.rules_outcome_from_moves;

/**
 * Whether the game is over.
 *
 * @param {PositionReport} answer
 */
export const isOver = answer => answer.moves.length === 0 || answer.verdict === "drawn";

/**
 * The side that wins by an outcome of the side to move; null for a draw.
 *
 * @param {Outcome | RulesOutcome} outcome
 * @param {Side} turn
 * @returns {Side | null}
 */
export function winnerOf(outcome, turn) {
  if (["win", "cursed-win", "maybe-win"].includes(outcome)) return turn;
  return ["loss", "blessed-loss", "maybe-loss"].includes(outcome) ? otherSide(turn) : null;
}

/**
 * The name of a rule, with its article.
 *
 * @param {Pick<RuleState, "rule" | "article">} rule
 * @param {string} ruleset
 */
export function ruleName({ rule, article }, ruleset) {
  const name = t(rule === "repetition" && countsMoves(ruleset) ? "rule.repeatedMoves" : `rule.${rule}`);
  return article && /^\d/.test(article) ? t("rule.withArticle", { rule: name, article }) : name;
}

/**
 * The names of several rules.
 *
 * @param {RuleState[]} rules
 * @param {string} ruleset
 */
export const ruleNames = (rules, ruleset) => list(rules.map(rule => ruleName(rule, ruleset)));

/**
 * The names of the rules that make the game a draw, at once or by a claim.
 *
 * @param {PositionReport} answer
 */
const firedRules = ({ rules, verdict, ruleset }) =>
  ruleNames(
    rules.filter(rule => rule.fired && (verdict !== "drawn" || rule.claim === "automatic")),
    ruleset,
  );

/**
 * The class that colours the verdict: a win for either side, a draw, or open.
 *
 * @param {PositionReport} answer
 */
export function tone(answer) {
  if (answer.verdict === "drawn") return "draw";
  const result = worth(answer);
  if (result === "loss") return "win";
  return result === "maybe-loss" ? "maybe-win" : result;
}

/**
 * The value of a position in a sentence: `White wins in 13 moves; the three-kings rule allows 15.`
 *
 * @param {PositionReport} answer
 */
export function verdictSentence(answer) {
  const { turn, outcome, verdict, dtw_moves: moves, moves: legal, fen } = answer;
  if (!legal.length) return lostSentence(turn, fen);
  if (verdict === "drawn") return t("verdict.drawn", { rules: firedRules(answer) });
  const onBoard = winnerOf(outcome, turn);
  const result = worth(answer);
  switch (result) {
    case "win":
    case "loss":
      return winSentence(answer, result === "win" ? turn : otherSide(turn));
    case "draw":
      return onBoard ? drawThough(answer, onBoard) : t("verdict.draw");
    case "maybe-win":
    case "maybe-loss": {
      const side = result === "maybe-win" ? turn : otherSide(turn);
      return moves === null ? t(`verdict.maybe.${side}`) : t(`verdict.maybeIn.${side}`, { n: moves });
    }
    default:
      return t("verdict.unknown");
  }
}

/**
 * The sides without pieces.
 *
 * @param {string} fen
 */
function sidesWithoutPieces(fen) {
  const sides = [...(parseFen(fen)?.pieces.values() ?? [])].map(({ side }) => side);
  return SIDES.filter(side => !sides.includes(side));
}

/**
 * Which pieces a set-up position lacks for a game; null if both sides have pieces. Nobody has won such a
 * position.
 *
 * @param {PositionReport} answer
 */
export function lackSentence({ fen }) {
  const bare = sidesWithoutPieces(fen);
  return bare.length ? t(`verdict.lacks.${bare.length > 1 ? "both" : bare[0]}`) : null;
}

/**
 * @param {Side} turn
 * @param {string} fen
 */
function lostSentence(turn, fen) {
  return t(`verdict.${sidesWithoutPieces(fen).includes(turn) ? "noPieces" : "noMove"}.${turn}`);
}

/**
 * @param {PositionReport} answer
 * @param {Side} side
 */
function winSentence(answer, side) {
  const { dtw_moves: moves, rules } = answer;
  const wins = moves === null ? t(`verdict.wins.${side}`) : t(`verdict.winsIn.${side}`, { n: moves });
  const limit = rules.find(
    ({ rule, applies, stronger }) => applies && stronger === side && rule === "three-kings",
  );
  if (limit?.unit !== "own-moves") return t("sentence", { text: wins });
  const allowance =
    limit.count === 0
      ? t("verdict.allows", { n: limit.limit })
      : t("verdict.allowsMore", { n: limit.remaining });
  return t("verdict.withLimit", { wins, allowance });
}

/**
 * A draw that would be a win without draw rules.
 *
 * @param {PositionReport} answer
 * @param {Side} side
 */
function drawThough(answer, side) {
  const { dtw_moves: n, outcome, cause } = answer;
  const won = n === null ? t(`verdict.onBoard.${side}`) : t(`verdict.onBoardIn.${side}`, { n });
  // Fresh counters would leave time for the win; those of this game do not.
  if (outcome === "win" || outcome === "loss") return t("verdict.tooLate", { won });
  return t(cause === "king-moves-and-balance" ? "verdict.tooLongTogether" : "verdict.tooLong", { won });
}

/**
 * A sentence on a draw that may be claimed; null if there is none.
 *
 * @param {PositionReport} answer
 */
export function claimSentence(answer) {
  if (answer.verdict === "claimable") {
    return t(`verdict.claim.${answer.turn}`, { rules: firedRules(answer) });
  }
  if (answer.verdict === "undetermined") return t("verdict.undetermined");
  return null;
}

/**
 * The material and the exact distances in plies.
 *
 * @param {PositionReport} answer
 */
export function distancesText({ material, pieces, dtw, dtc, dtb }) {
  const parts = [t("verdict.material", { material, n: pieces })];
  if (dtw !== null) parts.push(t("verdict.dtw", { n: dtw }));
  if (dtc !== null) parts.push(t("verdict.dtc", { n: dtc }));
  if (dtb !== null) parts.push(t("verdict.dtb", { n: dtb }));
  return parts.join(" · ");
}

export const OFFICIAL = "official";
/** @type {RulesetReport[] | null} */
let rulesets = null;

/**
 * Whether a ruleset counts repeated moves instead of positions. False until the server has sent its rulesets.
 *
 * @param {string} name
 */
export const countsMoves = name => rulesets?.find(each => each.name === name)?.repeats === "moves";

/**
 * The name of a ruleset in the language of the page.
 *
 * @param {string} name
 */
export const rulesetName = name => (has(`ruleset.${name}`) ? t(`ruleset.${name}`) : name);

/**
 * Fill a `select` with the rulesets of the server. Until the server has answered, it has the ruleset in use.
 *
 * @param {HTMLSelectElement} select
 * @param {string} chosen
 */
export async function fillRulesets(select, chosen) {
  const fill = (/** @type {string[]} */ names) => {
    const value = select.value || chosen;
    replace(
      select,
      names.map(name => html("option", { value: name }, rulesetName(name))),
    );
    // An unknown name in the address leaves the choice empty.
    select.value = value;
  };
  fill(rulesets?.map(({ name }) => name) ?? [...new Set([chosen, OFFICIAL])]);
  if (rulesets) return;
  try {
    rulesets = (await askRulesets()).rulesets;
    fill(rulesets.map(({ name }) => name));
  } catch {
    // The request for the position reports that the server does not answer.
  }
}
