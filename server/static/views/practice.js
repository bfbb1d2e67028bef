/** Practice: a random position of a class is played out against the tablebase, the clocks running. */

import { askMaterials, isDropped, Latest } from "../api.js";
import { Moving } from "../board/moving.js";
import { showClocks } from "../clocks.js";
import { html, redraw, replace, wholeChoice } from "../dom.js";
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
import { bestMove, CLASSES, costOf, findPosition, replyTo } from "../practice.js";
import { claimSentence, known, verdictSentence } from "../verdict.js";

const THINKING_MS = 350;
const SIDES = ["white", "black"];
const GOALS = ["win", "draw"];

export class PracticeView {
  name = "practice";
  #chosen = CLASSES[0].id;
  #material = { name: "", outcome: "win" };
  #materials = null;
  /** The practice that is played: `side`, `goal`, `notes` (what moves cost, by ply), `spoilt`, `helped`, `claimed`, `result`. */
  #practice = null;
  /** Where the game stood when another view was turned to. */
  #left = null;
  #searching = new Latest();
  #replying = new Latest();
  #timer = null;
  #notice = null;

  constructor({ board, session, problem, go, rewrite }) {
    Object.assign(this, { board, session, problem, go, rewrite });
    this.element = document.querySelector("#practice");
    this.moving = new Moving(board, (move, shown) => this.#moved(move, shown));
  }

  /** The part of the address that is practice's own: the task, from where it began, for others to try. */
  kept() {
    if (!this.#practice) return {};
    const { side, goal } = this.#practice;
    return { side, goal, query: this.session.nodes[0].query };
  }

  /** What the history of the browser is to keep: mistakes and hints are not to be lost with a page loaded anew. */
  memory() {
    return this.#practice && { practice: this.#practice, left: this.#left };
  }

  recall({ practice, left }) {
    this.#practice = practice;
    this.#left = left;
    this.#face();
  }

  /** Set the task that an address names, for the position that it has, if any. */
  read({ side, goal }) {
    this.#practice = SIDES.includes(side) ? newPractice(side, GOALS.includes(goal) ? goal : null) : null;
    this.#left = null;
    this.#face();
  }

  /** The player's own side is below. */
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

  /** The server has told where the game stands: it is over, or the player's turn, or the tablebase's. */
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

  get #wanted() {
    if (this.#chosen !== "any") return CLASSES.find(({ id }) => id === this.#chosen);
    return { material: this.#material.name, outcome: this.#material.outcome };
  }

  /** The player has made a move: note what it cost. */
  #moved(move, shown) {
    const practice = this.#practice;
    const cost = costOf(this.session.answer, move);
    practice.notes = practice.notes.filter(({ ply }) => ply <= this.session.index);
    if (cost) practice.notes.push({ ply: this.session.index + 1, move: move.move, ...cost });
    if (cost?.kind === "spoilt") practice.spoilt += 1;
    this.session.play(move, shown);
  }

  async #reply(answer) {
    const signal = this.#replying.begin();
    const thought = new Promise(resolve => {
      this.#timer = setTimeout(resolve, THINKING_MS);
    });
    let move = bestMove(answer);
    try {
      move = await replyTo(answer, this.session.ruleset, signal);
    } catch (error) {
      // The best move is known all the same.
      if (isDropped(error)) return;
    }
    await thought;
    if (this.session.answer === answer) this.session.play(move);
  }

  #stop() {
    clearTimeout(this.#timer);
    this.#replying.drop();
  }

  /** Back to before the player's last move. */
  #takeBack() {
    const { session } = this;
    const practice = this.#practice;
    const own = (index, turn) => index % 2 === (turn === practice.side ? 0 : 1);
    let index = session.index - 1;
    while (index > 0 && !own(index, session.startTurn)) index -= 1;
    practice.result = null;
    practice.claimed = false;
    practice.notes = practice.notes.filter(({ ply }) => ply <= index);
    session.to(Math.max(index, 0));
  }

  #hint() {
    const move = bestMove(this.session.answer);
    this.#practice.helped += 1;
    this.rewrite();
    this.board.arrow(move.path, move.captured);
    this.#notice = t("practice.hinted", { move: move.move });
    this.render();
    this.#notice = null;
  }

  #claim() {
    const practice = this.#practice;
    practice.claimed = true;
    practice.result = resultOf(this.session.answer, practice);
    this.rewrite();
    this.moving.allow([]);
    this.render();
  }

  render() {
    redraw(this.element, () => this.#draw());
  }

  #draw() {
    const notice = html("p", { class: "notice", role: "status" }, this.#notice ?? "");
    replace(
      this.element,
      notice,
      this.#practice ? this.#playing() : html("p", {}, t("practice.about")),
      this.#choosing(),
    );
    if (this.#practice && this.session.nodes.length > 1) this.#sheet();
    const { answer, cases } = this.session;
    const clocks = this.element.querySelector(".practice-clocks");
    if (clocks && answer) showClocks(clocks, answer, cases);
  }

  #choosing() {
    const option = (value, text) => html("option", { value, selected: value === this.#chosen }, text);
    const available = ({ material }) =>
      this.#materials === null || this.#materials.some(({ material: name }) => name === material);
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
      this.#materials ? option("any", t("practice.class.any")) : null,
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
      this.#chosen === "any" ? this.#anyMaterial() : null,
      html(
        "button",
        { type: "button", id: "practice-start", class: "main-button", onclick: () => this.#start() },
        t("practice.start"),
      ),
    );
  }

  #anyMaterial() {
    this.#material.name ||= this.#materials[0].material;
    const choice = (id, label, values, value, chosen) =>
      html(
        "label",
        { class: "stacked" },
        html("span", {}, t(label)),
        html(
          "select",
          { id, onchange: event => chosen(event.target.value) },
          values.map(([name, text]) => html("option", { value: name, selected: name === value }, text)),
        ),
      );
    return html(
      "div",
      { class: "buttons" },
      choice(
        "practice-material",
        "practice.material",
        this.#materials.map(({ material }) => [material, material]),
        this.#material.name,
        name => {
          this.#material.name = name;
        },
      ),
      choice(
        "practice-outcome",
        "practice.goal",
        GOALS.map(goal => [goal, t(`practice.to.${goal}`)]),
        this.#material.outcome,
        goal => {
          this.#material.outcome = goal;
        },
      ),
    );
  }

  #playing() {
    const { answer, problem } = this.session;
    const practice = this.#practice;
    const over = practice.result !== null;
    const yours = answer && !over && answer.turn === practice.side;
    const result = over && answer ? resultSentence(practice, known(answer)) : "";
    const state = over ? "over" : yours ? "yours" : problem ? "halted" : "thinking";
    const turn = over ? result : t(`practice.${state}`);
    const button = (id, key, action, enabled, main = false) =>
      html(
        "button",
        { type: "button", id, onclick: action, disabled: !enabled, class: main ? "main-button" : null },
        t(key),
      );
    const last = practice.notes.at(-1);
    const regret = last?.kind === "spoilt" && last.ply >= this.session.index - 1;
    return [
      html(
        "div",
        { class: `card practice-game ${over ? `practice-${success(practice) ? "won" : "lost"}` : ""}` },
        html("h2", { class: "practice-goal" }, t(`practice.task.${practice.goal ?? "any"}.${practice.side}`)),
        html(
          "p",
          { id: "practice-turn", role: "status", class: over ? "practice-result" : "", "data-state": state },
          turn,
        ),
        answer && !over && isHopeless(answer, practice)
          ? html("p", { class: "ruled", id: "hopeless" }, t("practice.hopeless"))
          : null,
        answer && !over
          ? html("p", { class: "faint", id: "practice-verdict" }, verdictSentence(known(answer)))
          : null,
        answer && !over && claimSentence(answer)
          ? html("p", { class: "ruled" }, claimSentence(answer))
          : null,
        html(
          "div",
          { class: "buttons" },
          button("take-back", "practice.takeBack", () => this.#takeBack(), this.#canTakeBack, regret),
          button("hint", "practice.hint", () => this.#hint(), yours),
          yours && answer.verdict === "claimable"
            ? button("claim", "practice.claim", () => this.#claim(), true)
            : null,
          over ? button("practice-next", "practice.another", () => this.#start(), true, true) : null,
          button("to-analysis", "practice.analyse", () => this.go("analysis"), true),
        ),
      ),
      html(
        "div",
        { class: "card" },
        html("h3", {}, t("practice.notes")),
        html(
          "ul",
          { id: "practice-notes", class: "notes", "aria-live": "polite" },
          practice.notes.length
            ? practice.notes.map(note => html("li", { class: `note-${note.kind}` }, noteSentence(note)))
            : html("li", { class: "faint" }, t("practice.noNotes")),
        ),
      ),
      html(
        "div",
        { class: "card" },
        html("h3", {}, t("clocks.title")),
        html("div", { class: "practice-clocks" }),
      ),
      html(
        "div",
        { class: "card" },
        html("h3", {}, t("practice.game")),
        html("div", { class: "sheet practice-sheet" }),
      ),
    ];
  }

  get #canTakeBack() {
    return this.session.index > (this.session.startTurn === this.#practice.side ? 0 : 1);
  }

  #sheet() {
    const spoilt = new Set(
      this.#practice.notes.filter(({ kind }) => kind === "spoilt").map(({ ply }) => ply),
    );
    const { nodes, index, startTurn } = this.session;
    const moves = nodes
      .slice(1, index + 1)
      .map(({ move }, ply) => ({ text: move.move, mark: spoilt.has(ply + 1) ? "?" : "" }));
    // Only taking back leads back here.
    showScoreSheet(this.element.querySelector(".practice-sheet"), moves, startTurn, index, null);
  }
}
