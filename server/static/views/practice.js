/**
 * Practice: the player plays a random position of a class against the tablebase, with the clocks of the draw
 * rules.
 *
 * @import { MaterialReport, PositionReport, RuledMove } from "../api.js"
 * @import { Board } from "../board/board.js"
 * @import { Goal, Practice } from "../goal.js"
 * @import { Shared, ShowProblem, View } from "../main.js"
 * @import { Wanted } from "../practice.js"
 * @import { GameNode, Session } from "../session.js"
 *
 * @typedef {{ nodes: GameNode[], index: number, ruleset: string | null }} LeftGame
 *   The game when the player left the view; `ruleset` is null if it has not counted the game.
 * @typedef {{ practice: Practice, left: LeftGame | null }} Memory
 */

import { askMaterials, isDropped, Latest } from "../api.js";
import { Moving } from "../board/moving.js";
import { showClocks } from "../clocks.js";
import { card, find, html, redraw, replace, wholeChoice } from "../dom.js";
import {
  goalFor,
  isHopeless,
  newPractice,
  noteSentence,
  resultOf,
  resultSentence,
  success,
} from "../goal.js";
import { t } from "../i18n.js";
import { showScoreSheet } from "../moves.js";
import { SIDES } from "../position.js";
import { bestMove, CLASSES, costOf, findPosition, replyTo } from "../practice.js";
import { claimSentence, known, verdictSentence } from "../verdict.js";

const THINKING_MS = 350;
/** @type {Goal[]} */
const GOALS = ["win", "draw"];

/** @implements {View} */
export class PracticeView {
  name = "practice";
  /** @type {Board} */
  board;
  /** @type {Session} */
  session;
  /** @type {ShowProblem} */
  problem;
  /** @type {Shared["go"]} */
  go;
  /** @type {() => void} */
  rewrite;
  element = find("#practice");
  moving;
  #chosen = CLASSES[0].id;
  /** @type {Wanted} */
  #wantedMaterial = { material: "", outcome: "win" };
  /** @type {MaterialReport[] | null} */
  #materials = null;
  /** @type {Practice | null} */
  #practice = null;
  /** @type {LeftGame | null} */
  #left = null;
  #searching = new Latest();
  #replying = new Latest();
  /** @type {number | undefined} */
  #timer;
  /** @type {string | null} */
  #notice = null;

  /** @param {Shared} shared */
  constructor({ board, session, problem, go, rewrite }) {
    this.board = board;
    this.session = session;
    this.problem = problem;
    this.go = go;
    this.rewrite = rewrite;
    this.moving = new Moving(board, (move, shown) => this.#moved(move, shown));
  }

  /** The goal and the first position, so that others can try the same. */
  kept() {
    if (!this.#practice) return {};
    const { side, goal } = this.#practice;
    return { side, goal, query: this.session.nodes[0].query };
  }

  /** The data that survives a reload: mistakes and hints too. */
  memory() {
    return this.#practice && { practice: this.#practice, left: this.#left };
  }

  /** @param {Memory} memory */
  recall({ practice, left }) {
    this.#practice = practice;
    this.#left = left;
    this.#face();
  }

  /**
   * Take over the goal of an address.
   *
   * @param {{ side: string | null, goal: string | null }} address
   */
  read(address) {
    const side = SIDES.find(each => each === address.side);
    const goal = GOALS.find(each => each === address.goal) ?? null;
    this.#practice = side ? newPractice(side, goal) : null;
    this.#left = null;
    this.#face();
  }

  /** Show the player's side below. */
  #face() {
    if (this.#practice?.side === "black") this.board.flip(true);
  }

  async enter() {
    if (this.#practice && this.#left) {
      const { nodes, index, ruleset } = this.#left;
      this.session.restore(nodes, index, { counted: ruleset === this.session.ruleset });
    }
    this.#left = null;
    this.render();
    if (this.#materials) return;
    try {
      this.#materials = (await askMaterials()).materials.filter(({ metrics }) => metrics.length);
      this.render();
    } catch {
      this.#materials = null;
    }
  }

  leave() {
    const { nodes, index, counted, ruleset } = this.session;
    this.#left = { nodes, index, ruleset: counted ? ruleset : null };
    this.#searching.drop();
    this.#stop();
  }

  changed() {
    this.#stop();
    this.moving.allow([], this.session.node.move?.path ?? []);
    this.render();
  }

  /** Go on with the game: it is over, or the player is to move, or the tablebase. */
  answered() {
    const { answer } = this.session;
    const practice = this.#practice;
    if (!answer || !practice) return this.render();
    practice.goal ??= goalFor(answer, practice.side);
    practice.result = resultOf(answer, practice);
    if (practice.result === null && answer.turn === practice.side) this.moving.allow(answer.moves);
    else if (practice.result === null) this.#reply(answer);
    this.render();
  }

  async #start() {
    const signal = this.#searching.begin();
    this.#notice = t("practice.searching");
    this.problem(null);
    this.render();
    try {
      const wanted = this.#wanted;
      const fen = await findPosition(wanted, this.session.ruleset, signal);
      this.#notice = fen === null ? t("practice.noneFound") : null;
      if (fen === null) return this.render();
      const side = fen.startsWith("W") ? "white" : "black";
      this.#practice = newPractice(side, wanted.outcome);
      this.board.flip(side === "black");
      this.session.load({ fen });
    } catch (error) {
      if (isDropped(error)) return;
      this.#notice = null;
      this.problem(error, () => this.#start());
      this.render();
    }
  }

  /** @returns {Wanted} */
  get #wanted() {
    return CLASSES.find(({ id }) => id === this.#chosen) ?? this.#wantedMaterial;
  }

  /**
   * Make a move of the player, and note what it cost.
   *
   * @param {RuledMove} move
   * @param {number} shown
   */
  #moved(move, shown) {
    const { answer } = this.session;
    const practice = this.#practice;
    if (!answer || !practice) return;
    const cost = costOf(answer, move);
    practice.notes = practice.notes.filter(({ ply }) => ply <= this.session.index);
    if (cost) practice.notes.push({ ply: this.session.index + 1, move: move.move, ...cost });
    if (cost?.kind === "spoilt") practice.spoilt += 1;
    this.session.play(move, shown);
  }

  /** @param {PositionReport} answer */
  async #reply(answer) {
    const signal = this.#replying.begin();
    const thought = new Promise(resolve => {
      this.#timer = setTimeout(resolve, THINKING_MS);
    });
    let move = bestMove(answer);
    try {
      move = await replyTo(answer, this.session.ruleset, signal);
    } catch (error) {
      // The best move is known without the answer.
      if (isDropped(error)) return;
    }
    await thought;
    if (this.session.answer === answer) this.session.play(move);
  }

  #stop() {
    clearTimeout(this.#timer);
    this.#replying.drop();
  }

  /** Take back the player's last move. */
  #takeBack() {
    const { session } = this;
    const practice = this.#practice;
    if (!practice) return;
    const own = (/** @type {number} */ index) => index % 2 === (session.startTurn === practice.side ? 0 : 1);
    let index = session.index - 1;
    while (index > 0 && !own(index)) index -= 1;
    practice.result = null;
    practice.claimed = false;
    practice.notes = practice.notes.filter(({ ply }) => ply <= index);
    session.to(Math.max(index, 0));
  }

  #hint() {
    const { answer } = this.session;
    if (!answer || !this.#practice) return;
    const move = bestMove(answer);
    this.#practice.helped += 1;
    this.rewrite();
    this.board.arrow(move.path, move.captured);
    this.#notice = t("practice.hinted", { move: move.move });
    this.render();
    this.#notice = null;
  }

  #claim() {
    const { answer } = this.session;
    const practice = this.#practice;
    if (!answer || !practice) return;
    practice.claimed = true;
    practice.result = resultOf(answer, practice);
    this.rewrite();
    this.moving.allow([]);
    this.render();
  }

  render() {
    redraw(this.element, () => this.#draw());
  }

  #draw() {
    const practice = this.#practice;
    const notice = html("p", { class: "notice", role: "status" }, this.#notice ?? "");
    const game = practice ? this.#playing(practice) : html("p", {}, t("practice.about"));
    replace(this.element, notice, game, this.#choosing());
    if (!practice) return;
    const { answer } = this.session;
    if (this.session.nodes.length > 1) this.#sheet(practice);
    if (answer) showClocks(find(".practice-clocks", this.element), answer);
  }

  #choosing() {
    const option = (/** @type {string} */ value, /** @type {string} */ text) =>
      html("option", { value, selected: value === this.#chosen }, text);
    const materials = this.#materials;
    const available = (/** @type {Wanted} */ wanted) =>
      !materials || materials.some(({ material }) => material === wanted.material);
    const chosen = html(
      "select",
      {
        id: "practice-class",
        onchange: event => {
          this.#chosen = event.target.value;
          this.render();
        },
      },
      CLASSES.filter(available).map(({ id }) => option(id, t(`practice.class.${id}`))),
      materials ? option("any", t("practice.class.any")) : null,
    );
    return html(
      "div",
      { class: "card practice-choice" },
      html(
        "label",
        { class: "stacked" },
        html("span", {}, t("practice.choose")),
        chosen,
        this.#chosen === "any" ? null : wholeChoice(t(`practice.class.${this.#chosen}`)),
      ),
      this.#chosen === "any" && materials ? this.#anyMaterial(materials) : null,
      html(
        "button",
        { type: "button", id: "practice-start", class: "main-button", onclick: () => this.#start() },
        t("practice.start"),
      ),
    );
  }

  /** @param {MaterialReport[]} materials */
  #anyMaterial(materials) {
    const wanted = this.#wantedMaterial;
    wanted.material ||= materials[0].material;
    return html(
      "div",
      { class: "buttons" },
      choice(
        "practice-material",
        t("practice.material"),
        materials.map(({ material }) => [material, material]),
        wanted.material,
        material => {
          wanted.material = material;
        },
      ),
      choice(
        "practice-outcome",
        t("practice.goal"),
        GOALS.map(goal => [goal, t(`practice.to.${goal}`)]),
        wanted.outcome,
        goal => {
          wanted.outcome = /** @type {Goal} */ (goal);
        },
      ),
    );
  }

  /** @param {Practice} practice */
  #playing(practice) {
    return [
      this.#gameCard(practice),
      this.#notesCard(practice),
      card(t("clocks.title"), html("div", { class: "practice-clocks" })),
      card(t("practice.game"), html("div", { class: "sheet practice-sheet" })),
    ];
  }

  /**
   * The card of the game: the goal, whose turn it is, the value of the position, and the buttons.
   *
   * @param {Practice} practice
   */
  #gameCard(practice) {
    const { answer, problem } = this.session;
    const over = practice.result !== null;
    const playing = over ? null : answer;
    const yours = playing?.turn === practice.side;
    const state = over ? "over" : yours ? "yours" : problem ? "halted" : "thinking";
    const result = over && answer ? resultSentence(practice, known(answer)) : "";
    const claim = playing && claimSentence(playing);
    const outlook = playing && [
      isHopeless(playing, practice)
        ? html("p", { class: "ruled", id: "hopeless" }, t("practice.hopeless"))
        : null,
      html("p", { class: "faint", id: "practice-verdict" }, verdictSentence(known(playing))),
      claim && html("p", { class: "ruled" }, claim),
    ];
    return html(
      "div",
      { class: `card practice-game ${over ? `practice-${success(practice) ? "won" : "lost"}` : ""}` },
      html("h2", { class: "practice-goal" }, t(`practice.task.${practice.goal ?? "any"}.${practice.side}`)),
      html(
        "p",
        { id: "practice-turn", role: "status", class: over ? "practice-result" : "", "data-state": state },
        over ? result : t(`practice.${state}`),
      ),
      outlook,
      this.#buttons(practice, yours),
    );
  }

  /**
   * @param {Practice} practice
   * @param {boolean} yours whether the player is to move
   */
  #buttons(practice, yours) {
    const { answer, index, startTurn } = this.session;
    const canTakeBack = index > (startTurn === practice.side ? 0 : 1);
    const last = practice.notes.at(-1);
    const regret = last?.kind === "spoilt" && last.ply >= index - 1;
    return html(
      "div",
      { class: "buttons" },
      button("take-back", t("practice.takeBack"), () => this.#takeBack(), canTakeBack, regret),
      button("hint", t("practice.hint"), () => this.#hint(), yours),
      yours && answer?.verdict === "claimable"
        ? button("claim", t("practice.claim"), () => this.#claim())
        : null,
      practice.result === null
        ? null
        : button("practice-next", t("practice.another"), () => this.#start(), true, true),
      button("to-analysis", t("practice.analyse"), () => this.go("analysis")),
    );
  }

  /**
   * The card of the notes on the player's moves.
   *
   * @param {Practice} practice
   */
  #notesCard({ notes }) {
    return card(
      t("practice.notes"),
      html(
        "ul",
        { id: "practice-notes", class: "notes", "aria-live": "polite" },
        notes.length
          ? notes.map(note => html("li", { class: `note-${note.kind}` }, noteSentence(note)))
          : html("li", { class: "faint" }, t("practice.noNotes")),
      ),
    );
  }

  /** @param {Practice} practice */
  #sheet({ notes }) {
    const spoilt = new Set(notes.filter(({ kind }) => kind === "spoilt").map(({ ply }) => ply));
    const { index, startTurn } = this.session;
    const moves = this.session.moves
      .slice(0, index)
      .map(({ move }, ply) => ({ text: move, mark: spoilt.has(ply + 1) ? "?" : "" }));
    // The moves are no buttons: the player goes back only by taking back.
    showScoreSheet(find(".practice-sheet", this.element), moves, startTurn, index, null);
  }
}

/**
 * A list to choose from, with its label.
 *
 * @param {string} id
 * @param {string} label
 * @param {[value: string, text: string][]} options
 * @param {string} chosen
 * @param {(value: string) => void} choose
 */
const choice = (id, label, options, chosen, choose) =>
  html(
    "label",
    { class: "stacked" },
    html("span", {}, label),
    html(
      "select",
      { id, onchange: event => choose(event.target.value) },
      options.map(([value, text]) => html("option", { value, selected: value === chosen }, text)),
    ),
  );

/**
 * @param {string} id
 * @param {string} text
 * @param {() => void} action
 * @param {boolean} enabled
 * @param {boolean} main
 */
const button = (id, text, action, enabled = true, main = false) =>
  html(
    "button",
    { type: "button", id, onclick: action, disabled: !enabled, class: main ? "main-button" : null },
    text,
  );
