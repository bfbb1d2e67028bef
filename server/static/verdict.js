/** What a position is worth, in a sentence. */

import { askRulesets } from "./api.js";
import { html, replace } from "./dom.js";
import { has, list, t } from "./i18n.js";
import { otherSide, parseFen } from "./position.js";

const BEST_FIRST = ["win", "cursed-win", "draw", "blessed-loss", "loss"];
/** What an outcome from fresh counters is under the rules of the tables. */
const UNDER_RULES = { win: "win", "cursed-win": "draw", draw: "draw", "blessed-loss": "draw", loss: "loss" };
const KING_MOVES_PLIES = 30;

/** An answer whose outcome, where there is no table for it, is what its moves tell. */
export function known(answer) {
  const outcomes = answer.moves.map(move => move.outcome);
  if (answer.outcome !== "unknown" || !outcomes.length) return answer;
  if (!outcomes.includes("win") && outcomes.includes("unknown")) return answer;
  const outcome = BEST_FIRST.find(each => outcomes.includes(each));
  return { ...answer, outcome, fromMoves: true };
}

/** The outcome for the side to move under the rules with the counts as they are. */
export const worth = answer =>
  answer.rules_outcome !== "unknown" ? answer.rules_outcome : (UNDER_RULES[answer.outcome] ?? "unknown");

/** Whether the game has come to its end. */
export const isOver = answer => answer.moves.length === 0 || answer.verdict === "drawn";

/** The side that an outcome for the side to move is a win for; null for a draw. */
export function winnerOf(outcome, turn) {
  if (["win", "cursed-win", "maybe-win"].includes(outcome)) return turn;
  return ["loss", "blessed-loss", "maybe-loss"].includes(outcome) ? otherSide(turn) : null;
}

/** A rule of a ruleset by its name and article. */
export function ruleName({ rule, article }, ruleset) {
  const name = t(rule === "repetition" && countsMoves(ruleset) ? "rule.repeatedMoves" : `rule.${rule}`);
  return article && /^\d/.test(article) ? t("rule.withArticle", { rule: name, article }) : name;
}

/** Several of them. */
export const ruleNames = (rules, ruleset) => list(rules.map(rule => ruleName(rule, ruleset)));

/** The names of the rules that make a draw here: by themselves, or by a claim. */
const firedRules = ({ rules, verdict, ruleset }) =>
  ruleNames(
    rules.filter(rule => rule.fired && (verdict !== "drawn" || rule.claim === "automatic")),
    ruleset,
  );

/** How the verdict looks: decided, whoever wins, or a draw, or open. */
export function tone(answer) {
  if (answer.verdict === "drawn") return "draw";
  return { win: "win", loss: "win", draw: "draw", unknown: "unknown" }[worth(answer)] ?? "maybe-win";
}

/** The verdict: `White wins in 13 moves; the three-kings rule allows 15.` */
export function verdictSentence(answer) {
  const { turn, outcome, verdict, dtw_moves: moves, moves: legal, fen } = answer;
  if (!legal.length) return lostSentence(turn, fen);
  if (verdict === "drawn") return t("verdict.drawn", { rules: firedRules(answer) });
  const onBoard = winnerOf(outcome, turn);
  const result = worth(answer);
  switch (result) {
    case "win":
    case "loss":
      return winSentence(answer, winnerOf(result, turn));
    case "draw":
      return onBoard ? drawThough(answer, onBoard) : t("verdict.draw");
    case "maybe-win":
    case "maybe-loss": {
      const side = winnerOf(result, turn);
      return moves === null ? t(`verdict.maybe.${side}`) : t(`verdict.maybeIn.${side}`, { n: moves });
    }
    default:
      return t("verdict.unknown");
  }
}

/** Sides that have no piece at all. */
function sidesWithoutPieces(fen) {
  const sides = [...parseFen(fen).pieces.values()].map(({ side }) => side);
  return ["white", "black"].filter(side => !sides.includes(side));
}

/** What a position that no move has led to lacks for a game; null where it lacks nothing: nobody has won there. */
export function lackSentence({ fen }) {
  const bare = sidesWithoutPieces(fen);
  return bare.length ? t(`verdict.lacks.${bare.length > 1 ? "both" : bare[0]}`) : null;
}

function lostSentence(turn, fen) {
  return t(`verdict.${sidesWithoutPieces(fen).includes(turn) ? "noPieces" : "noMove"}.${turn}`);
}

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

function drawThough(answer, side) {
  const { dtw_moves: n, outcome } = answer;
  const won = n === null ? t(`verdict.onBoard.${side}`) : t(`verdict.onBoardIn.${side}`, { n });
  // Won or lost from fresh counts, and not any more: the counts have come too far.
  if (outcome === "win" || outcome === "loss") return t("verdict.tooLate", { won });
  return t(cause(answer), { won });
}

/** Which rules make the draw: the tables may know two. Where a move leaves time under the first, it takes both. */
function cause(answer) {
  const inTime = ({ after }) =>
    after.outcome === "loss" && after.dtc !== null && after.dtc < KING_MOVES_PLIES;
  return answer.outcome === "cursed-win" && answer.moves.some(inTime)
    ? "verdict.tooLongTogether"
    : "verdict.tooLong";
}

/** What else is to be said: a draw that may be claimed. Null if nothing is. */
export function claimSentence(answer) {
  if (answer.verdict === "claimable") {
    return t(`verdict.claim.${answer.turn}`, { rules: firedRules(answer) });
  }
  if (answer.verdict === "undetermined") return t("verdict.undetermined");
  return null;
}

/** The distances in plies, for those who want them exactly. */
export function distancesText({ material, pieces, dtw, dtc, dtb }) {
  const parts = [t("verdict.material", { material, n: pieces })];
  if (dtw !== null) parts.push(t("verdict.dtw", { n: dtw }));
  if (dtc !== null) parts.push(t("verdict.dtc", { n: dtc }));
  if (dtb !== null) parts.push(t("verdict.dtb", { n: dtb }));
  return parts.join(" · ");
}

export const OFFICIAL = "official";
let rulesets = null;

/** Whether the rule on repetition of a ruleset counts repeated moves, and not positions; false until it is known. */
export const countsMoves = name => rulesets?.find(each => each.name === name)?.repeats === "moves";

/** A ruleset by its name for people. */
export const rulesetName = name => (has(`ruleset.${name}`) ? t(`ruleset.${name}`) : name);

/** Fill a `select` with the rulesets of the server; until it has answered, with the one in use. */
export async function fillRulesets(select, chosen) {
  const fill = options => {
    const value = select.value || chosen;
    replace(
      select,
      options.map(name => html("option", { value: name }, rulesetName(name))),
    );
    // A name that an address has wrong leaves the choice open.
    select.value = value;
  };
  const names = () => rulesets.map(({ name }) => name);
  fill(rulesets ? names() : [...new Set([chosen, OFFICIAL])]);
  if (rulesets) return;
  try {
    rulesets = (await askRulesets()).rulesets;
    fill(names());
  } catch {
    // A server that does not answer is told where the position is asked for.
  }
}
