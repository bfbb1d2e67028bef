/** The board with what stands under it: steps, flip, set-up, the FEN. It shows the session, whatever the view. */

import { Setup } from "./board/setup.js";
import { find, findAll, replace } from "./dom.js";
import { t } from "./i18n.js";
import { fenHasNumbers, formatFen, numberingOptions, parseFen, swapSides, withCounters } from "./position.js";

const ARROWS = { ArrowLeft: "#back", ArrowRight: "#forward", Home: "#first", End: "#last" };
const ARROWS_GO_ROUND = "input, select, textarea, [role=grid], [role=radiogroup]";
/** Keys that step with the keyboard on the board too, by what they write, or where they are on another layout. */
const STEP_KEYS = { ",": "#back", ".": "#forward" };
const STEP_CODES = { Comma: "#back", Period: "#forward" };
const WRITING = "input:not([type=radio], [type=checkbox]), textarea";

export class BoardPanel {
  #setup;
  #drawn = null;
  /** Whether the FEN is being written: an answer that comes meanwhile must not write over it. */
  #typing = false;
  #moving;

  /** `problem(error)` is told what goes wrong with a line. */
  constructor({ board, session, player, problem }) {
    Object.assign(this, { board, session, player, problem });
    this.#moving = board.handler;
    this.#setup = new Setup(board, find("#palette"), pieces => this.#put({ pieces }));
    this.#buttons();
    this.#fenForm();
    session.addEventListener("changed", ({ detail }) => this.#changed(detail.shown));
    session.addEventListener("answered", () => this.#answered());
    player.addEventListener("changed", () => this.#steps());
  }

  /** What is on the board, as far as it is known; null before the first answer to a FEN of another kind. */
  get position() {
    const { fen, query } = this.session.node;
    return parseFen(fen ?? query.fen);
  }

  get settingUp() {
    return !find("#setup").hidden;
  }

  /** Let a handler make the moves on the board while no position is being set up. */
  handTo(moving) {
    this.#moving = moving;
    this.#routeInput();
  }

  closeSetup() {
    if (this.settingUp) this.#toggleSetup(false);
  }

  /** Draw texts anew, in another language. */
  label() {
    const numbering = find("#numbering");
    replace(numbering, numberingOptions(numbering.value, t("numbering.choose")));
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
    for (const radio of findAll("[name=turn]")) radio.onchange = () => this.#put({ turn: radio.value });
    addEventListener("keydown", event => this.#key(event));
  }

  #key(event) {
    if (event.ctrlKey || event.altKey || event.metaKey || find("#steps").hidden) return;
    const everywhere = !event.target.closest(WRITING) && (STEP_KEYS[event.key] ?? STEP_CODES[event.code]);
    const button = everywhere || (!event.target.closest(ARROWS_GO_ROUND) && ARROWS[event.key]);
    if (!button) return;
    event.preventDefault();
    find(button).click();
  }

  #fenForm() {
    const field = find("#fen");
    const numbering = find("#numbering");
    field.oninput = () => {
      this.#typing = true;
      numbering.hidden = !fenHasNumbers(field.value);
    };
    find("#fen-form").onsubmit = event => {
      event.preventDefault();
      const query = { fen: field.value.trim() };
      if (!numbering.hidden && numbering.value) query.numbering = numbering.value;
      this.session.load(query);
      // Without a numbering it has not been asked about.
      if (!numbering.hidden && !numbering.value) numbering.focus();
    };
    numbering.onchange = () => this.session.problem && find("#fen-form").requestSubmit();
    find("#copy").onclick = () => this.#copy(field);
  }

  async #copy(field) {
    const button = find("#copy");
    try {
      await navigator.clipboard.writeText(field.value);
    } catch {
      // Without leave for the clipboard the text is at least selected, for a key to copy it.
      field.select();
      return;
    }
    button.textContent = t("fen.copied");
    find("#said").textContent = t("fen.copied");
    setTimeout(() => {
      button.textContent = t("fen.copy");
    }, 1500);
  }

  #toggleSetup(open) {
    find("#setup").hidden = !open;
    find("#set-up").setAttribute("aria-expanded", String(open));
    this.player.pause();
    this.#routeInput();
    this.#steps();
  }

  /** Say who takes what is done to the board. */
  #routeInput() {
    this.board.handler = this.settingUp ? this.#setup : this.#moving;
    this.board.handler.start();
  }

  /** What is on the board while it is being set up; it need not be a legal position. */
  get #edited() {
    const turn = findAll("[name=turn]").find(radio => radio.checked)?.value ?? "white";
    return { turn, pieces: this.board.pieces };
  }

  #put(change) {
    this.session.load({ fen: formatFen({ ...this.#edited, ...change }) }, { quiet: true });
  }

  /** Show where the session has come to; `shown` is how many steps of its last move are seen already, null for all. */
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

  /** Show the position, unless it is there already. */
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
    const field = find("#fen");
    if (this.#typing) return;
    field.value = node.fen ? withCounters(node.fen, node.counters) : node.query.fen;
    find("#numbering").hidden = !fenHasNumbers(field.value);
  }

  #render() {
    const turn = find("#turn");
    const side = this.position?.turn;
    turn.textContent = side ? t(`toMove.${side}`) : "";
    turn.classList.toggle("black", side === "black");
    for (const radio of findAll("[name=turn]")) radio.checked = radio.value === (side ?? "white");
    this.#steps();
  }

  #steps() {
    const { session, player } = this;
    find("#first").disabled = find("#back").disabled = !session.canBack;
    find("#forward").disabled = find("#last").disabled = !session.canForward;
    const over = session.answer !== null && session.answer.moves.length === 0;
    const play = find("#play");
    const name = t(player.playing ? "steps.pause" : "steps.play");
    play.disabled = over || session.problem !== null || this.settingUp;
    play.classList.toggle("playing", player.playing);
    play.setAttribute("aria-label", name);
    play.title = name;
  }
}
