/**
 * The best line, played move by move. Each move waits for the answer for the position before it.
 *
 * @import { LineReport } from "./api.js"
 * @import { Session } from "./session.js"
 *
 * @typedef {object} BestLine
 * @property {LineReport} answer
 * @property {string} ruleset
 * @property {string} start the FEN of the first position of the game
 * @property {string[]} before the moves of the game before the line
 */

import { askLine, isDropped, Latest } from "./api.js";

const LIMIT_PLIES = 300;
const PAUSE_MS = 900;

export class Player extends EventTarget {
  /** @type {BestLine | null} */
  line = null;
  /** @type {Session} */
  session;
  #latest = new Latest();
  /** @type {number | undefined} */
  #timer;
  /** @type {number | null} */
  #goal = null;
  #pause = PAUSE_MS;
  #stepping = false;

  /** @param {Session} session */
  constructor(session) {
    super();
    this.session = session;
    session.addEventListener("answered", () => this.#answered());
    session.addEventListener("changed", () => {
      if (this.#followed() === null) this.forget();
      else if (!this.#stepping) this.pause();
    });
  }

  get playing() {
    return this.#goal !== null;
  }

  /** The moves of the line after the position on the board; null if the board is not on a line. */
  get ahead() {
    const followed = this.#followed();
    return followed === null || !this.line
      ? null
      : this.line.answer.moves.slice(followed).map(({ move }) => move);
  }

  /** Request the best line, unless the board is on it. */
  async find() {
    if (this.ahead?.length) return;
    const signal = this.#latest.begin();
    const { nodes, index, moves } = this.session;
    const answer = await askLine(this.session.query, LIMIT_PLIES, signal);
    const before = moves.slice(0, index).map(({ move }) => move);
    this.line = { answer, ruleset: this.session.ruleset, start: nodes[0].query.fen, before };
    this.#announce();
  }

  /** Play the line to its end, or the next `plies` of it without pauses. */
  async play(plies = Infinity) {
    this.#goal = this.session.index + plies;
    this.#pause = plies === Infinity ? PAUSE_MS : 0;
    this.#announce();
    try {
      await this.find();
      if (this.session.answer) this.#next();
    } catch (error) {
      this.pause();
      if (!isDropped(error)) throw error;
    }
  }

  pause() {
    clearTimeout(this.#timer);
    this.#latest.drop();
    if (this.#goal === null) return;
    this.#goal = null;
    this.#announce();
  }

  forget() {
    this.line = null;
    this.pause();
    this.#announce();
  }

  #announce() {
    this.dispatchEvent(new Event("changed"));
  }

  /** How many moves of the line are on the board; null if the board is not on the line. */
  #followed() {
    if (!this.line) return null;
    const { nodes, index, moves, ruleset } = this.session;
    const { start, before, answer } = this.line;
    if (ruleset !== this.line.ruleset || index < before.length || nodes[0].query.fen !== start) return null;
    const line = [...before, ...answer.moves.map(({ move }) => move)];
    const isOnLine = moves.slice(0, index).every(({ move }, ply) => move === line[ply]);
    return isOnLine ? index - before.length : null;
  }

  #answered() {
    if (!this.playing) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.#next(), this.#pause);
  }

  #next() {
    const [name] = this.ahead ?? [];
    const { answer, index } = this.session;
    const move = answer?.moves.find(each => each.move === name);
    if (this.#goal === null || index >= this.#goal || !move) return this.pause();
    this.#stepping = true;
    this.session.play(move);
    this.#stepping = false;
  }
}
