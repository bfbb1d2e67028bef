/**
 * The panel of the board: the board, and under it steps, flip, set-up and FEN. All views but the statistics
 * share it.
 *
 * @import { GameQuery } from "./api.js"
 * @import { Board, Handler } from "./board/board.js"
 * @import { ShowProblem } from "./main.js"
 * @import { Player } from "./player.js"
 * @import { Position, Side } from "./position.js"
 * @import { Session } from "./session.js"
 */

import { Setup } from "./board/setup.js";
import { find, findAll, replace } from "./dom.js";
import { t } from "./i18n.js";
import { fenHasNumbers, formatFen, numberingOptions, parseFen, swapSides, withCounters } from "./position.js";

/** @type {Record<string, string>} */
const ARROWS = { ArrowLeft: "#back", ArrowRight: "#forward", Home: "#first", End: "#last" };
/** Elements that use the arrow keys themselves. */
const ARROWS_GO_ROUND = "input, select, textarea, [role=grid], [role=radiogroup]";
/**
 * Keys that step while the board has the focus too, by their letter.
 *
 * @type {Record<string, string>}
 */
const STEP_KEYS = { ",": "#back", ".": "#forward" };
/**
 * The same keys by their place, for other keyboard layouts.
 *
 * @type {Record<string, string>}
 */
const STEP_CODES = { Comma: "#back", Period: "#forward" };
const WRITING = "input:not([type=radio], [type=checkbox]), textarea";

export class BoardPanel {
  /** @type {Board} */
  board;
  /** @type {Session} */
  session;
  /** @type {Player} */
  player;
  /** @type {ShowProblem} */
  problem;
  /** @type {HTMLInputElement} */
  #fen = find("#fen");
  /** @type {HTMLFormElement} */
  #form = find("#fen-form");
  /** @type {HTMLSelectElement} */
  #numbering = find("#numbering");
  /** @type {HTMLInputElement[]} */
  #turns = findAll("[name=turn]");
  /** @type {Handler} */
  #moving;
  #setup;
  /** @type {string | null} */
  #drawn = null;
  /** Whether the player is writing the FEN: an answer must not overwrite it. */
  #typing = false;

  /** @param {{ board: Board, session: Session, player: Player, problem: ShowProblem }} shared */
  constructor({ board, session, player, problem }) {
    this.board = board;
    this.session = session;
    this.player = player;
    this.problem = problem;
    this.#moving = board.handler;
    this.#setup = new Setup(board, find("#palette"), pieces => this.#put({ pieces }));
    this.#buttons();
    this.#fenForm();
    session.addEventListener("changed", event =>
      this.#changed(/** @type {CustomEvent} */ (event).detail.shown),
    );
    session.addEventListener("answered", () => this.#answered());
    player.addEventListener("changed", () => this.#steps());
  }

  /** The position of the session; null before the first answer for a FEN of another program. */
  get position() {
    const { fen, query } = this.session.node;
    return parseFen(fen ?? query.fen);
  }

  get settingUp() {
    return !find("#setup").hidden;
  }

  /**
   * Give the board to a handler, except during set-up.
   *
   * @param {Handler} moving
   */
  handTo(moving) {
    this.#moving = moving;
    this.#routeInput();
  }

  closeSetup() {
    if (this.settingUp) this.#toggleSetup(false);
  }

  /** Draw texts anew, in another language. */
  label() {
    replace(this.#numbering, numberingOptions(this.#numbering.value, t("numbering.choose")));
    this.#setup.label();
    this.board.label();
    this.#render();
  }

  #buttons() {
    const { session, player, board } = this;
    find("#first").onclick = () => session.to(0);
    find("#back").onclick = () => session.to(session.index - 1);
    find("#forward").onclick = () => session.to(session.index + 1);
    find("#last").onclick = () => session.to(session.nodes.length - 1);
    find("#play").onclick = () => (player.playing ? player.pause() : player.play().catch(this.problem));
    find("#flip").onclick = () => {
      board.flip(!board.flipped);
      this.#routeInput();
    };
    find("#set-up").onclick = () => this.#toggleSetup(!this.settingUp);
    find("#done").onclick = () => {
      this.#toggleSetup(false);
      find("#set-up").focus();
    };
    find("#clear").onclick = () => this.#put({ pieces: new Map() });
    find("#swap").onclick = () => this.#put(swapSides(this.#edited));
    for (const radio of this.#turns)
      radio.onchange = () => this.#put({ turn: /** @type {Side} */ (radio.value) });
    addEventListener("keydown", event => this.#key(event));
  }

  /** @param {KeyboardEvent} event */
  #key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || find("#steps").hidden) return;
    const target = /** @type {Element} */ (event.target);
    const everywhere = !target.closest(WRITING) && (STEP_KEYS[event.key] ?? STEP_CODES[event.code]);
    const button = everywhere || (!target.closest(ARROWS_GO_ROUND) && ARROWS[event.key]);
    if (!button) return;
    event.preventDefault();
    find(button).click();
  }

  #fenForm() {
    const field = this.#fen;
    const numbering = this.#numbering;
    field.oninput = () => {
      this.#typing = true;
      numbering.hidden = !fenHasNumbers(field.value);
    };
    this.#form.onsubmit = event => {
      event.preventDefault();
      /** @type {GameQuery} */
      const query = { fen: field.value.trim() };
      if (!numbering.hidden && numbering.value) query.numbering = numbering.value;
      this.session.load(query);
      // The session sends no request without a numbering.
      if (!numbering.hidden && !numbering.value) numbering.focus();
    };
    numbering.onchange = () => {
      if (this.session.problem) this.#form.requestSubmit();
    };
    find("#copy").onclick = () => this.#copy();
  }

  async #copy() {
    const button = find("#copy");
    try {
      await navigator.clipboard.writeText(this.#fen.value);
    } catch {
      // Without access to the clipboard the player can copy the selected text by keyboard.
      this.#fen.select();
      return;
    }
    button.textContent = t("fen.copied");
    find("#said").textContent = t("fen.copied");
    setTimeout(() => {
      button.textContent = t("fen.copy");
    }, 1500);
  }

  /** @param {boolean} open */
  #toggleSetup(open) {
    find("#setup").hidden = !open;
    find("#set-up").setAttribute("aria-expanded", String(open));
    this.player.pause();
    this.#routeInput();
    this.#steps();
  }

  /** Route board input to the set-up editor or to the current view. */
  #routeInput() {
    this.board.handler = this.settingUp ? this.#setup : this.#moving;
    this.board.handler.start();
  }

  /**
   * The position on the board during set-up. It may be illegal.
   *
   * @returns {Position}
   */
  get #edited() {
    const turn = this.#turns.find(radio => radio.checked)?.value ?? "white";
    return { turn: /** @type {Side} */ (turn), pieces: this.board.pieces };
  }

  /** @param {Partial<Position>} change */
  #put(change) {
    this.session.load({ fen: formatFen({ ...this.#edited, ...change }) }, { quiet: true });
  }

  /**
   * Show the new position of the session.
   *
   * @param {number | null} shown how many steps of its last move the board shows already, null for all
   */
  async #changed(shown) {
    const { node } = this.session;
    const { board } = this;
    board.arrow(null);
    this.#drawn = null;
    this.#typing = false;
    if (shown !== null && node.move?.path.length) {
      board.busy = true;
      await board.slide(node.move.path, node.move.captured, shown);
      if (node !== this.session.node) return;
    }
    board.busy = false;
    this.#draw();
    this.#fillIn();
    this.#render();
  }

  #answered() {
    if (!this.board.busy) this.#draw();
    this.#fillIn();
    this.#render();
  }

  /** Draw the position, unless the board shows it already. */
  #draw() {
    const { position } = this;
    const fen = position && formatFen(position);
    if (!position || fen === this.#drawn) return;
    this.#drawn = fen;
    this.board.show(position.pieces);
    this.#routeInput();
  }

  #fillIn() {
    const { node } = this.session;
    if (this.#typing) return;
    this.#fen.value = node.fen ? withCounters(node.fen, node.counters) : node.query.fen;
    this.#numbering.hidden = !fenHasNumbers(this.#fen.value);
  }

  #render() {
    const turn = find("#turn");
    const side = this.position?.turn;
    turn.textContent = side ? t(`toMove.${side}`) : "";
    turn.classList.toggle("black", side === "black");
    for (const radio of this.#turns) radio.checked = radio.value === (side ?? "white");
    this.#steps();
  }

  #steps() {
    const { session, player } = this;
    for (const id of ["#first", "#back"]) disable(id, !session.canBack);
    for (const id of ["#forward", "#last"]) disable(id, !session.canForward);
    const over = session.answer !== null && session.answer.moves.length === 0;
    const play = find("#play");
    const name = t(player.playing ? "steps.pause" : "steps.play");
    disable("#play", over || session.problem !== null || this.settingUp);
    play.classList.toggle("playing", player.playing);
    play.setAttribute("aria-label", name);
    play.title = name;
  }
}

/**
 * @param {string} id
 * @param {boolean} disabled
 */
function disable(id, disabled) {
  /** @type {HTMLButtonElement} */
  const button = find(id);
  button.disabled = disabled;
}
