/** Game: a text in PDN judged under the draw rules, with a graph, the mistakes, and the rule that ended it. */

import { askGames, isDropped, Latest } from "../api.js";
import { Moving } from "../board/moving.js";
import { showClocks } from "../clocks.js";
import { find, html, redraw, replace } from "../dom.js";
import { gameGraph } from "../gamegraph.js";
import { has, list, t } from "../i18n.js";
import { withCounters } from "../position.js";
import { showSheet } from "../sheet.js";
import { known, ruleName, verdictSentence } from "../verdict.js";

const EXAMPLE = `[Event "An ending"]
[GameType "25,W,8,8,A0,0"]
[FEN "W:WKc1,Kd2,Ka3:BKe1"]

1. d2-a5 e1-f2 2. a3-c5 f2:b6 3. a5:c7 1/2-1/2
`;

export class GameView {
  name = "game";
  #text = "";
  #games = [];
  #chosen = 0;
  #busy = false;
  #latest = new Latest();

  constructor({ board, session, problem, go }) {
    Object.assign(this, { board, session, problem, go });
    this.element = find("#game");
    // Moves are those of the game; others can be tried in the analysis.
    this.moving = new Moving(board, () => {});
    this.#listenToDrops();
  }

  enter() {
    this.moving.allow([], []);
    if (this.#game) this.#toBoard(Math.min(this.session.index, this.#game.plies.length));
    this.render();
  }

  leave() {
    this.#latest.drop();
    this.#busy = false;
  }

  changed(how) {
    if (how === "ruled" && this.#game) this.#judge(this.#text, { chosen: this.#chosen, ply: this.session.index });
    this.moving.allow([], this.session.node.move?.squares ?? []);
    this.render();
  }

  answered() {
    this.render();
  }

  get #game() {
    return this.#games[this.#chosen];
  }

  /** Have a text judged, and show one of its games at a ply. */
  async #judge(text, { chosen = 0, ply = 0 } = {}) {
    this.#text = text;
    if (!text.trim()) return this.#field.focus();
    const signal = this.#latest.begin();
    this.#busy = true;
    this.problem(null);
    this.render();
    try {
      const { games } = await askGames(text, this.session.ruleset, null, signal);
      this.#games = games;
      this.#chosen = chosen;
      this.#busy = false;
      this.#toBoard(ply);
    } catch (error) {
      if (isDropped(error)) return;
      this.#busy = false;
      this.problem(error);
    }
    this.render();
  }

  get #field() {
    return this.element.querySelector("#pdn");
  }

  /** Put the chosen game on the board, at one of its plies. */
  #toBoard(ply) {
    const { start, plies } = this.#game;
    if (!start) return;
    const node = ({ fen, counters }, move) => ({ fen, counters, query: { fen: withCounters(fen, counters) }, move });
    const nodes = [node(start, null), ...plies.map(({ move, after }) =>
      node(after, { move, path: [], captured: [], squares: move.match(/[a-h][1-8]/g) ?? [] }))];
    this.session.restore(nodes, ply);
  }

  #listenToDrops() {
    this.element.addEventListener("dragover", event => {
      event.preventDefault();
      this.element.classList.add("dropping");
    });
    this.element.addEventListener("dragleave", () => this.element.classList.remove("dropping"));
    this.element.addEventListener("drop", event => {
      event.preventDefault();
      this.element.classList.remove("dropping");
      const [file] = event.dataTransfer.files;
      if (file) this.#read(file);
      else this.#judge(event.dataTransfer.getData("text"));
    });
  }

  async #read(file) {
    if (file) this.#judge(await file.text());
  }

  render() {
    redraw(this.element, () => this.#draw());
  }

  #draw() {
    const typed = this.#field?.value;
    if (typed !== undefined && !this.#busy) this.#text = typed;
    const open = !this.#game;
    replace(this.element, this.#entry(open), this.#game ? this.#judged() : null);
    if (!this.#game?.start) return;
    const { answer, cases } = this.session;
    const mistakes = new Map(this.#game.mistakes.map(mistake => [mistake.ply, mistake]));
    const moves = this.#game.plies.map(({ ply, move }) => ({ text: move, mark: mistakes.has(ply) ? "?" : "" }));
    const go = ply => this.session.to(ply);
    showSheet(find("#game-sheet"), moves, this.#game.start.turn, this.session.index, go);
    if (answer) showClocks(find("#game-clocks"), answer, cases);
  }

  /** Where the text goes in; folded once there is a game. */
  #entry(open) {
    const file = html("input", { type: "file", id: "pdn-file", accept: ".pdn,.txt,text/plain", class: "unseen",
      onchange: event => this.#read(event.target.files[0]) });
    const text = html("textarea", { id: "pdn", rows: 7, spellcheck: "false", placeholder: t("game.placeholder") });
    text.value = this.#text;
    return html("details", { class: "card", open },
      html("summary", {}, html("h2", {}, t("game.title"))),
      html("p", { class: "faint", id: "game-about" }, t("game.about")),
      html("label", { for: "pdn", class: "unseen" }, t("game.text")), text,
      html("div", { class: "buttons" },
        html("button", { type: "button", id: "judge", class: "main-button", disabled: this.#busy,
          onclick: () => this.#judge(text.value) }, t(this.#busy ? "game.judging" : "game.judge")),
        html("label", { class: "file-button" }, t("game.file"), file),
        html("button", { type: "button", id: "example-game", onclick: () => this.#judge(EXAMPLE) }, t("game.example"))));
  }

  #judged() {
    const game = this.#game, { start, plies, mistakes, problems } = game;
    const { answer, index } = this.session;
    const graph = start && gameGraph({
      stands: [start, ...plies.map(({ after }) => after)], mistakes: mistakes.map(({ ply }) => ply),
      current: index, go: ply => this.session.to(ply),
    });
    return [
      html("div", { class: "card" },
        this.#games.length > 1 ? this.#choice() : html("h2", {}, title(game)),
        html("p", { id: "game-result", role: "status" }, endingSentence(game)),
        graph, graph ? html("p", { class: "graph-legend faint" }, t("game.legend")) : null,
        html("div", { id: "game-sheet", class: "sheet" }),
        html("p", { id: "game-verdict", class: "faint" }, answer ? verdictSentence(known(answer)) : ""),
        start ? html("button", { type: "button", id: "game-analysis", onclick: () => this.go("analysis") }, t("game.analyse")) : null),
      html("div", { class: "card" }, html("h3", {}, t("game.mistakes")),
        html("ul", { id: "game-mistakes", class: "notes" }, mistakes.length
          ? mistakes.map(mistake => this.#mistake(mistake)) : html("li", { class: "faint" }, t("game.noMistakes")))),
      problems.length ? html("div", { class: "card" }, html("h3", {}, t("game.problems")),
        html("ul", { class: "notes" }, problems.map(({ line, message }) =>
          html("li", {}, t("game.problemAt", { line, message }))))) : null,
      start ? html("div", { class: "card" }, html("h3", {}, t("clocks.title")), html("div", { id: "game-clocks" })) : null,
    ];
  }

  #choice() {
    return html("label", { class: "stacked" }, html("span", {}, t("game.choose", { n: this.#games.length })),
      html("select", { id: "game-choice", onchange: event => {
        this.#chosen = Number(event.target.value);
        this.#toBoard(0);
        this.render();
      } }, this.#games.map((game, index) =>
        html("option", { value: index, selected: index === this.#chosen }, `${game.number}. ${title(game)}`))));
  }

  #mistake({ ply, move, player, rules_before: before, rules_after: after, board_before, board_after, keeping }) {
    const [was, is] = before === after ? [board_before, board_after] : [before, after];
    const text = t("game.mistake", { was: t(`outcome.${was}`), is: t(`outcome.${is}`) });
    const kept = keeping.length ? ` ${t("game.keeping", { moves: list(keeping) })}` : "";
    return html("li", { class: "note-spoilt" },
      html("button", { type: "button", class: "link-button", "data-ply": ply, onclick: () => this.session.to(ply) },
        `${moveNumber(this.#game, ply)} ${move}?`), ` ${t(`side.${player}`)}: ${text}${kept}`);
  }
}

function title({ tags, number }) {
  const players = tags.White && tags.Black ? `${tags.White} – ${tags.Black}` : null;
  return [players, tags.Event].filter(Boolean).join(", ") || t("game.untitled", { number });
}

function moveNumber({ start }, ply) {
  const index = ply - 1 + (start.turn === "black" ? 1 : 0);
  return `${Math.floor(index / 2) + 1}${index % 2 ? "…" : "."}`;
}

/** How a game ended by the rules, and what its written result is beside that. */
function endingSentence({ ending, result, agreement, written, plies }) {
  const n = plies.length, last = plies.at(-1)?.after;
  const key = ending === "won" ? `won.${result}` : ending;
  const rules = ending === "drawn" ? list(last.rules.filter(rule => rule.fired).map(ruleName)) : "";
  const parts = [t(`game.ending.${key}`, { n, rules })];
  if (ending === "cut-short" && last && has(`game.playedOn.${last.rules_outcome}.${last.turn}`)) {
    parts.push(t(`game.playedOn.${last.rules_outcome}.${last.turn}`));
  }
  parts.push(t(`game.agreement.${agreement}`, { written }));
  return parts.join(" ");
}
