/**
 * Game: a text in PDN judged under the draw rules, with a graph, the mistakes, and the rule that ended it.
 *
 * @import { GameReport, GameState, Mistake } from "../api.js"
 * @import { Shared, ShowProblem, View } from "../main.js"
 * @import { Change, GameNode, MadeMove, Session } from "../session.js"
 *
 * @typedef {{ text: string, numbering: string, ruleset: string }} Judged the text and the rules of the judged
 *   games
 */

import { isDropped, Latest } from "../api.js";
import { Moving } from "../board/moving.js";
import { gameGraph } from "../charts.js";
import { showClocks } from "../clocks.js";
import { card, find, html, redraw, replace, wholeChoice } from "../dom.js";
import { dropTarget, readText } from "../files.js";
import { endingSentence, judge, moveNumber, problemOf, refuseTooLong, title } from "../game.js";
import { list, t } from "../i18n.js";
import { showScoreSheet } from "../moves.js";
import { fieldsOf, numberingOptions, pdnHasNumbers, withCounters } from "../position.js";
import { known, verdictSentence } from "../verdict.js";

const example = () => `[Event "${t("game.exampleTitle")}"]
[GameType "25,W,8,8,A0,0"]
[FEN "W:WKc1,Kd2,Ka3:BKe1"]

1. d2-a5 e1-f2 2. a3-c5 f2:b6 3. a5:c7 1/2-1/2
`;

/** The board of a game whose first position is unreadable. */
const NOWHERE = { fen: "W:W:B", counters: null };

/** @implements {View} */
export class GameView {
  name = "game";
  /** @type {Session} */
  session;
  /** @type {ShowProblem} */
  problem;
  /** @type {Shared["go"]} */
  go;
  /** @type {() => void} */
  rewrite;
  element;
  moving;
  #text = "";
  #numbering = "";
  /** @type {GameReport[]} */
  #games = [];
  /** @type {Judged | null} */
  #judged = null;
  #chosen = 0;
  #busy = false;
  #latest = new Latest();

  /** @param {Shared} shared */
  constructor({ board, session, problem, go, rewrite }) {
    this.session = session;
    this.problem = problem;
    this.go = go;
    this.rewrite = rewrite;
    this.element = find("#game");
    // The board shows the moves of the game only. The analysis is for others.
    this.moving = new Moving(board, () => {});
    dropTarget(this.element, { file: file => this.#read(file), text: text => this.#judgeText(text) });
  }

  memory() {
    return this.#judged && { ...this.#judged, chosen: this.#chosen };
  }

  /**
   * Take over a game from before a reload. It is judged again when the view is shown.
   *
   * @param {Judged & { chosen: number }} memory
   */
  recall({ chosen, ...judged }) {
    this.#chosen = chosen;
    if (this.#judged?.text === judged.text && this.#judged.numbering === judged.numbering) return;
    this.#judged = judged;
    this.#text = judged.text;
    this.#numbering = judged.numbering;
    this.#games = [];
  }

  enter() {
    this.moving.allow([], []);
    if (this.#judged && (!this.#game || this.#judged.ruleset !== this.session.ruleset)) this.#judgeAgain();
    else if (this.#game) this.#toBoard(this.#ply);
    this.render();
  }

  leave() {
    this.#latest.drop();
    this.#busy = false;
  }

  /** @param {Change} how */
  changed(how) {
    if (how === "ruled" && this.#game) this.#judgeAgain();
    this.moving.allow([], this.session.node.move?.squares ?? []);
    this.render();
  }

  answered() {
    this.render();
  }

  /** Whether the board shows a judged game. */
  get judges() {
    return this.#game !== undefined;
  }

  /** @returns {GameReport | undefined} */
  get #game() {
    return this.#games[this.#chosen];
  }

  /** The ply on the board, at most the last one of the game. */
  get #ply() {
    return Math.min(this.session.index, this.#game?.plies.length ?? 0);
  }

  #judgeAgain() {
    if (!this.#judged) return;
    const { text, numbering } = this.#judged;
    this.#judge(text, numbering, { chosen: this.#chosen, stay: true });
  }

  /** @param {string} text */
  #judgeText(text) {
    this.#text = text;
    this.#judge(text, this.#numbering);
  }

  /**
   * Have a text judged, and show one of its games.
   *
   * @param {string} text
   * @param {string} numbering
   * @param {{ chosen?: number, stay?: boolean }} options which game; whether to stay at the ply on the board
   */
  async #judge(text, numbering, { chosen = 0, stay = false } = {}) {
    const { ruleset } = this.session;
    const signal = this.#latest.begin();
    this.#busy = true;
    this.problem(null);
    this.render();
    try {
      this.#games = await judge(text, ruleset, numbering, signal);
      this.#judged = { text, numbering, ruleset };
      this.#chosen = Math.min(chosen, this.#games.length - 1);
      this.#toBoard(stay ? this.#ply : 0);
    } catch (error) {
      if (isDropped(error)) return;
      this.#games = [];
      // The games before are of another text. A game judged again keeps its text, for another try.
      if (!stay) this.#judged = null;
      this.problem(error, () => this.#judge(text, numbering, { chosen, stay }));
    }
    this.#busy = false;
    this.rewrite();
    this.render();
    // Once there is a game, the text field is folded away with the focus.
    if (!stay) find(this.#game ? "#game-result" : "#pdn").focus();
  }

  /**
   * Show the chosen game on the board, at one of its plies.
   *
   * @param {number} ply
   */
  #toBoard(ply) {
    if (!this.#game) return;
    const { start, plies, tags } = this.#game;
    const first = nodeOf(start ?? NOWHERE, null);
    // Other rules may use counters of the FEN that these rules ignore.
    if (start) first.given = { fen: start.fen + fieldsOf(tags.FEN ?? "").join("") };
    const nodes = [
      first,
      ...plies.map(({ move, after }) =>
        nodeOf(after, { move, path: [], captured: [], squares: move.match(/[a-h][1-8]/g) ?? [] }),
      ),
    ];
    this.session.restore(nodes, ply);
  }

  /** @param {File | undefined} file */
  async #read(file) {
    if (!file) return;
    try {
      refuseTooLong(file.size);
      this.#judgeText(await readText(file));
    } catch (error) {
      this.problem(error);
    }
  }

  /**
   * Refuse to paste a text that is too long: the browser would hang while it shows the text.
   *
   * @param {ClipboardEvent} event
   */
  #paste(event) {
    try {
      refuseTooLong(event.clipboardData?.getData("text").length ?? 0);
    } catch (error) {
      event.preventDefault();
      this.problem(error);
    }
  }

  render() {
    redraw(this.element, () => this.#draw());
  }

  #draw() {
    const game = this.#game;
    replace(this.element, this.#entry(!game), game ? this.#report(game) : null);
    if (!game?.start) return;
    const { answer } = this.session;
    const mistakes = new Set(game.mistakes.map(({ ply }) => ply));
    const moves = game.plies.map(({ ply, move }) => ({ text: move, mark: mistakes.has(ply) ? "?" : "" }));
    const go = (/** @type {number} */ ply) => this.session.to(ply);
    showScoreSheet(find("#game-sheet"), moves, game.start.turn, this.session.index, go);
    if (answer) showClocks(find("#game-clocks"), answer);
  }

  /**
   * The field for the text.
   *
   * @param {boolean} open false once there is a game
   */
  #entry(open) {
    const file = html("input", {
      type: "file",
      id: "pdn-file",
      accept: ".pdn,.txt,text/plain",
      class: "unseen",
      onchange: event => this.#read(event.target.files[0]),
    });
    const numbering = html(
      "select",
      {
        id: "game-numbering",
        "aria-label": t("numbering.label"),
        hidden: !pdnHasNumbers(this.#text),
        onchange: event => {
          this.#numbering = event.target.value;
        },
      },
      numberingOptions(this.#numbering, t("numbering.asWritten")),
    );
    const text = html("textarea", {
      id: "pdn",
      rows: 7,
      spellcheck: "false",
      placeholder: t("game.placeholder"),
      onpaste: event => this.#paste(event),
      oninput: () => {
        this.#text = text.value;
        numbering.hidden = !pdnHasNumbers(text.value);
      },
    });
    text.value = this.#text;
    return html(
      "details",
      { class: "card", open },
      html("summary", {}, html("h2", {}, t("game.title"))),
      html("p", { class: "faint", id: "game-about" }, t("game.about")),
      html("label", { for: "pdn", class: "unseen" }, t("game.text")),
      text,
      html(
        "div",
        { class: "buttons" },
        html(
          "button",
          {
            type: "button",
            id: "judge",
            class: "main-button",
            disabled: this.#busy,
            onclick: () => this.#judgeText(text.value),
          },
          t(this.#busy ? "game.judging" : "game.judge"),
        ),
        numbering,
        html("label", { class: "file-button" }, t("game.file"), file),
        html(
          "button",
          { type: "button", id: "example-game", onclick: () => this.#judgeText(example()) },
          t("game.example"),
        ),
      ),
    );
  }

  /** @param {GameReport} game */
  #report(game) {
    const { start, mistakes, problems } = game;
    return [
      html(
        "div",
        { class: "card" },
        this.#games.length > 1 ? this.#choice(game) : html("h2", {}, title(game)),
        html("p", { id: "game-result", role: "status", tabindex: -1 }, endingSentence(game)),
        start ? this.#graph(game, start) : null,
        html("div", { id: "game-sheet", class: "sheet" }),
        start ? this.#analysis() : null,
      ),
      start
        ? card(
            t("game.mistakes"),
            html(
              "ul",
              { id: "game-mistakes", class: "notes" },
              mistakes.length
                ? mistakes.map(mistake => this.#mistake(game, mistake))
                : html("li", { class: "faint" }, t("game.noMistakes")),
            ),
          )
        : null,
      problems.length
        ? card(
            t("game.problems"),
            html(
              "ul",
              { class: "notes", id: "game-problems" },
              problems.map(each => html("li", {}, problemOf(each))),
            ),
          )
        : null,
      start ? card(t("clocks.title"), html("div", { id: "game-clocks" })) : null,
    ];
  }

  /**
   * @param {GameReport} game
   * @param {GameState} start
   */
  #graph({ plies, mistakes }, start) {
    if (!plies.length) return null;
    const graph = gameGraph({
      states: [start, ...plies.map(({ after }) => after)],
      mistakes: mistakes.map(({ ply }) => ply),
      current: this.session.index,
      go: ply => this.session.to(ply),
    });
    return [graph, html("p", { class: "graph-legend faint" }, t("game.legend"))];
  }

  #analysis() {
    const { answer } = this.session;
    return [
      html("p", { id: "game-verdict", class: "faint" }, answer ? verdictSentence(known(answer)) : ""),
      html(
        "button",
        { type: "button", id: "game-analysis", onclick: () => this.go("analysis") },
        t("game.analyse"),
      ),
    ];
  }

  /** @param {GameReport} current */
  #choice(current) {
    return html(
      "label",
      { class: "stacked" },
      html("span", {}, t("game.choose", { n: this.#games.length })),
      html(
        "select",
        {
          id: "game-choice",
          onchange: event => {
            this.#chosen = Number(event.target.value);
            this.#toBoard(0);
            this.render();
          },
        },
        this.#games.map((game, index) =>
          html(
            "option",
            { value: index, selected: index === this.#chosen },
            `${game.number}. ${title(game)}`,
          ),
        ),
      ),
      wholeChoice(title(current)),
    );
  }

  /**
   * @param {GameReport} game
   * @param {Mistake} mistake
   */
  #mistake(game, { ply, move, player, keeping, ...outcomes }) {
    const { rules_before: before, rules_after: after, board_before, board_after } = outcomes;
    const [was, is] = before === after ? [board_before, board_after] : [before, after];
    const text = t("game.mistake", { was: t(`outcome.${was}`), is: t(`outcome.${is}`) });
    const kept = keeping.length ? ` ${t("game.keeping", { moves: list(keeping) })}` : "";
    return html(
      "li",
      { class: "note-spoilt" },
      html(
        "button",
        { type: "button", class: "link-button", "data-ply": ply, onclick: () => this.session.to(ply) },
        `${moveNumber(game, ply)} ${move}?`,
      ),
      ` ${t(`side.${player}`)}: ${text}${kept}`,
    );
  }
}

/**
 * @param {{ fen: string, counters: GameNode["counters"] }} state
 * @param {MadeMove | null} move
 * @returns {GameNode}
 */
const nodeOf = ({ fen, counters }, move) => ({
  fen,
  counters,
  query: { fen: withCounters(fen, counters) },
  move,
});
