/**
 * Analysis: the value of the position, the clocks, the moves, and the best line.
 *
 * @import { GameQuery, LineReport, RuledMove } from "../api.js"
 * @import { Board } from "../board/board.js"
 * @import { Shared, ShowProblem, View } from "../main.js"
 * @import { Player } from "../player.js"
 * @import { Session } from "../session.js"
 */

import { isDropped } from "../api.js";
import { Moving } from "../board/moving.js";
import { showClocks } from "../clocks.js";
import { find, findAll, html, redraw, replace, showText } from "../dom.js";
import { t } from "../i18n.js";
import { showMoves, showScoreSheet } from "../moves.js";
import {
  claimSentence,
  distancesText,
  known,
  lackSentence,
  ruleNames,
  tone,
  verdictSentence,
} from "../verdict.js";

const EXAMPLES = [
  ["threeKings", "W:WKc1,Kf8,Kh2:BKa7"],
  ["kingsAndMan", "W:WKa1,Ke1,c3:BKb8"],
  ["road", "W:WKf2,Kh2,a1:BKf6"],
  ["men", "W:Wg3,h4:Bc7"],
];

/** @implements {View} */
export class AnalysisView {
  name = "analysis";
  /** @type {Board} */
  board;
  /** @type {Session} */
  session;
  /** @type {Player} */
  player;
  /** @type {ShowProblem} */
  problem;
  /** @type {(query: GameQuery) => string} */
  addressFor;
  /** @type {Moving} */
  moving;

  /** @param {Shared} shared */
  constructor({ board, session, player, problem, addressFor }) {
    this.board = board;
    this.session = session;
    this.player = player;
    this.problem = problem;
    this.addressFor = addressFor;
    this.moving = new Moving(board, (move, shown) => session.play(move, shown));
    find("#best-line").onclick = () => this.#findLine();
    player.addEventListener("changed", () => this.#sheet());
  }

  enter() {
    this.render();
  }

  leave() {
    this.player.pause();
  }

  changed() {
    find("#analysis").classList.add("late");
    this.moving.allow([], this.session.node.move?.path ?? []);
    this.#sheet();
  }

  answered() {
    this.render();
  }

  render() {
    const { answer: answered, problem } = this.session;
    const choosing = find("#moves-card").contains(document.activeElement);
    find("#analysis").classList.toggle("late", !answered && !problem);
    for (const id of ["clocks-card", "moves-card"])
      find(`#${id}`).hidden = problem !== null || this.#lack !== null;
    find(".verdict-card").hidden = problem !== null;
    this.#sheet();
    this.#examples();
    if (!answered) return;
    const answer = known(answered);
    const lack = this.#lack;
    const verdict = find("#verdict");
    verdict.textContent = lack ?? verdictSentence(answer);
    verdict.className = `verdict ${lack ? "unknown" : tone(answer)}`;
    showText(find("#ruled"), claimSentence(answer));
    showText(find("#source"), answer.fromMoves ? t("verdict.fromMoves") : null);
    showText(find("#distances"), answer.moves.length && !lack ? distancesText(answer) : null);
    showClocks(find("#clocks"), answer);
    find("#moves-card").hidden = answer.moves.length === 0 || lack !== null;
    // The list stays visible until the next answer, but then its moves belong to another position.
    const still = () => this.session.answer === answered;
    const point = (/** @type {RuledMove | null} */ move) =>
      still() && this.board.arrow(move?.path, move?.captured);
    const make = (/** @type {RuledMove} */ move) => still() && this.session.play(move);
    redraw(find("#moves"), () => showMoves(find("#moves"), answer, { point, make }));
    this.moving.allow(lack ? [] : answer.moves, this.session.node.move?.path ?? []);
    if (choosing && find("#moves-card").hidden) verdict.focus();
  }

  async #findLine() {
    const hadKeyboard = document.activeElement === find("#best-line");
    try {
      await this.player.find();
      // The button is gone: the line gets the focus.
      if (hadKeyboard) (findAll("#sheet .sheet-ahead")[0] ?? find("#line-end")).focus();
    } catch (error) {
      if (!isDropped(error)) this.problem(error, () => this.#findLine());
    }
  }

  /**
   * Why the position is none of a game, null if it is one. After a move it always is: a move may take the
   * last piece.
   */
  get #lack() {
    const { answer, node } = this.session;
    return answer && !node.move ? lackSentence(answer) : null;
  }

  /** Draw the moves of the game, and after them the rest of the best line. */
  #sheet() {
    const { session, player } = this;
    const { index } = session;
    const ahead = player.ahead;
    const turn = session.startTurn;
    const made = session.moves.map(({ move }) => move);
    const shown = ahead === null ? made : [...made.slice(0, index), ...ahead];
    const go = (/** @type {number} */ count) =>
      ahead !== null && count > index ? player.play(count - index).catch(this.problem) : session.to(count);
    const sheet = find("#sheet");
    redraw(sheet, () =>
      showScoreSheet(
        sheet,
        shown.map(text => ({ text })),
        turn,
        index,
        go,
        index,
      ),
    );
    const end = ahead === null ? null : (player.line?.answer ?? null);
    showText(find("#line-end"), end && lineEnd(end, session.ruleset));
    find("#sheet").hidden = shown.length === 0;
    find("#best-line").hidden = ahead !== null || session.answer?.moves.length === 0 || this.#lack !== null;
  }

  #examples() {
    replace(
      find("#example-links"),
      EXAMPLES.map(([name, fen]) =>
        html(
          "li",
          {},
          html(
            "a",
            {
              href: this.addressFor({ fen }),
              onclick: event => {
                if (event.ctrlKey || event.metaKey || event.shiftKey) return;
                event.preventDefault();
                this.session.load({ fen });
              },
            },
            t(`examples.${name}`),
          ),
        ),
      ),
    );
  }
}

/**
 * How a line ends, in a sentence.
 *
 * @param {LineReport} line
 * @param {string} ruleset
 */
function lineEnd({ end, winner, fired, moves, dtw }, ruleset) {
  const n = moves.length;
  if (end === "game-over")
    return t(`line.won.${winner}`, { n }) + (n === dtw ? "" : ` ${t("line.otherLength")}`);
  if (end === "draw" && fired.length) return t("line.drawn", { n, rules: ruleNames(fired, ruleset) });
  return t(`line.${end}`, { n });
}
