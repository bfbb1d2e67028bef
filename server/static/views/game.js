/** Game: a text in PDN judged under the draw rules, with a graph, the mistakes, and the rule that ended it. */

import { isDropped, Latest } from "../api.js";
import { Moving } from "../board/moving.js";
import { gameGraph } from "../charts.js";
import { showClocks } from "../clocks.js";
import { find, html, redraw, replace, wholeChoice } from "../dom.js";
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

/** The board of a game whose first position cannot be read. */
const NOWHERE = { fen: "W:W:B", counters: null };

export class GameView {
  name = "game";
  #text = "";
  #numbering = "";
  #games = [];
  /** Of what the games are, as the history of the browser keeps it: `text`, `numbering`, `ruleset`. */
  #asked = null;
  #chosen = 0;
  #busy = false;
  #latest = new Latest();

  constructor({ board, session, problem, go, rewrite }) {
    Object.assign(this, { board, session, problem, go, rewrite });
    this.element = find("#game");
    // Moves are those of the game; others can be tried in the analysis.
    this.moving = new Moving(board, () => {});
    dropTarget(this.element, { file: file => this.#read(file), text: text => this.#judgeText(text) });
  }

  memory() {
    return this.#asked && { ...this.#asked, chosen: this.#chosen };
  }

  /** Take over a game that was judged before the page was loaded anew; it is judged again once it is to be seen. */
  recall({ chosen, ...judged }) {
    this.#chosen = chosen;
    if (this.#asked?.text === judged.text && this.#asked.numbering === judged.numbering) return;
    this.#asked = judged;
    this.#text = judged.text;
    this.#numbering = judged.numbering;
    this.#games = [];
  }

  enter() {
    this.moving.allow([], []);
    if (this.#asked && (!this.#game || this.#asked.ruleset !== this.session.ruleset)) this.#judgeAgain();
    else if (this.#game) this.#toBoard(this.#ply);
    this.render();
  }

  leave() {
    this.#latest.drop();
    this.#busy = false;
  }

  changed(how) {
    if (how === "ruled" && this.#game) this.#judgeAgain();
    this.moving.allow([], this.session.node.move?.squares ?? []);
    this.render();
  }

  answered() {
    this.render();
  }

  /** Whether what is on the board is judged here, ply by ply. */
  get judges() {
    return this.#game !== undefined;
  }

  get #game() {
    return this.#games[this.#chosen];
  }

  /** Where the board is in the game, as far as it goes. */
  get #ply() {
    return Math.min(this.session.index, this.#game.plies.length);
  }

  #judgeAgain() {
    const { text, numbering } = this.#asked;
    this.#judge(text, numbering, { chosen: this.#chosen, stay: true });
  }

  #judgeText(text) {
    this.#text = text;
    this.#judge(text, this.#numbering);
  }

  /** Have a text judged, and show one of its games: at its beginning, or to `stay` at the ply that is on the board. */
  async #judge(text, numbering, { chosen = 0, stay = false } = {}) {
    const { ruleset } = this.session;
    const signal = this.#latest.begin();
    this.#busy = true;
    this.problem(null);
    this.render();
    try {
      this.#games = await judge(text, ruleset, numbering, signal);
      this.#asked = { text, numbering, ruleset };
      this.#chosen = Math.min(chosen, this.#games.length - 1);
      this.#toBoard(stay ? this.#ply : 0);
    } catch (error) {
      if (isDropped(error)) return;
      this.#games = [];
      // What was judged before is not of this text; a game that is judged again may be so another time.
      if (!stay) this.#asked = null;
      this.problem(error, () => this.#judge(text, numbering, { chosen, stay }));
    }
    this.#busy = false;
    this.rewrite();
    this.render();
    // What had the keyboard is folded away, once there is a game.
    if (!stay) (this.#game ? find("#game-result") : this.#field).focus();
  }

  get #field() {
    return this.element.querySelector("#pdn");
  }

  /** Put the chosen game on the board, at one of its plies. */
  #toBoard(ply) {
    const { start, plies, tags } = this.#game;
    const node = ({ fen, counters }, move) => ({
      fen,
      counters,
      query: { fen: withCounters(fen, counters) },
      move,
    });
    const first = node(start ?? NOWHERE, null);
    // Other rules may count of it what these do not.
    if (start) first.given = { fen: start.fen + fieldsOf(tags.FEN ?? "").join("") };
    const nodes = [
      first,
      ...plies.map(({ move, after }) =>
        node(after, { move, path: [], captured: [], squares: move.match(/[a-h][1-8]/g) ?? [] }),
      ),
    ];
    this.session.restore(nodes, ply);
  }

  async #read(file) {
    if (!file) return;
    try {
      refuseTooLong(file.size);
      this.#judgeText(await readText(file));
    } catch (error) {
      this.problem(error);
    }
  }

  /** What is too long is not even put into the field: a page that is asked to show it would stand still. */
  #paste(event) {
    try {
      refuseTooLong(event.clipboardData.getData("text").length);
    } catch (error) {
      event.preventDefault();
      this.problem(error);
    }
  }

  render() {
    redraw(this.element, () => this.#draw());
  }

  #draw() {
    const open = !this.#game;
    replace(this.element, this.#entry(open), this.#game ? this.#report() : null);
    if (!this.#game?.start) return;
    const { answer, cases } = this.session;
    const mistakes = new Map(this.#game.mistakes.map(mistake => [mistake.ply, mistake]));
    const moves = this.#game.plies.map(({ ply, move }) => ({
      text: move,
      mark: mistakes.has(ply) ? "?" : "",
    }));
    const go = ply => this.session.to(ply);
    showScoreSheet(find("#game-sheet"), moves, this.#game.start.turn, this.session.index, go);
    if (answer) showClocks(find("#game-clocks"), answer, cases);
  }

  /** Where the text goes in; folded once there is a game. */
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

  #report() {
    const game = this.#game;
    const { start, plies, mistakes, problems } = game;
    const { answer, index } = this.session;
    const graph =
      start &&
      plies.length > 0 &&
      gameGraph({
        stands: [start, ...plies.map(({ after }) => after)],
        mistakes: mistakes.map(({ ply }) => ply),
        current: index,
        go: ply => this.session.to(ply),
      });
    return [
      html(
        "div",
        { class: "card" },
        this.#games.length > 1 ? this.#choice() : html("h2", {}, title(game)),
        html("p", { id: "game-result", role: "status", tabindex: -1 }, endingSentence(game)),
        graph,
        graph && html("p", { class: "graph-legend faint" }, t("game.legend")),
        html("div", { id: "game-sheet", class: "sheet" }),
        start
          ? html("p", { id: "game-verdict", class: "faint" }, answer ? verdictSentence(known(answer)) : "")
          : null,
        start
          ? html(
              "button",
              { type: "button", id: "game-analysis", onclick: () => this.go("analysis") },
              t("game.analyse"),
            )
          : null,
      ),
      start
        ? html(
            "div",
            { class: "card" },
            html("h3", {}, t("game.mistakes")),
            html(
              "ul",
              { id: "game-mistakes", class: "notes" },
              mistakes.length
                ? mistakes.map(mistake => this.#mistake(mistake))
                : html("li", { class: "faint" }, t("game.noMistakes")),
            ),
          )
        : null,
      problems.length
        ? html(
            "div",
            { class: "card" },
            html("h3", {}, t("game.problems")),
            html(
              "ul",
              { class: "notes", id: "game-problems" },
              problems.map(each => html("li", {}, problemOf(each))),
            ),
          )
        : null,
      start
        ? html(
            "div",
            { class: "card" },
            html("h3", {}, t("clocks.title")),
            html("div", { id: "game-clocks" }),
          )
        : null,
    ];
  }

  #choice() {
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
      wholeChoice(title(this.#game)),
    );
  }

  #mistake({
    ply,
    move,
    player,
    rules_before: before,
    rules_after: after,
    board_before,
    board_after,
    keeping,
  }) {
    const [was, is] = before === after ? [board_before, board_after] : [before, after];
    const text = t("game.mistake", { was: t(`outcome.${was}`), is: t(`outcome.${is}`) });
    const kept = keeping.length ? ` ${t("game.keeping", { moves: list(keeping) })}` : "";
    return html(
      "li",
      { class: "note-spoilt" },
      html(
        "button",
        { type: "button", class: "link-button", "data-ply": ply, onclick: () => this.session.to(ply) },
        `${moveNumber(this.#game, ply)} ${move}?`,
      ),
      ` ${t(`side.${player}`)}: ${text}${kept}`,
    );
  }
}
