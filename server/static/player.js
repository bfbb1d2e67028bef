/** Plays the best line by itself: move by move, each once the position before it has been answered. */

import { askLine, isDropped, Latest } from "./api.js";

const LIMIT_PLIES = 300;
const PAUSE_MS = 900;

export class Player extends EventTarget {
  line = null;
  #latest = new Latest();
  #timer = null;
  #goal = null;
  #pause = PAUSE_MS;
  #stepping = false;

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

  /** The moves of the line from where it was asked for, and how many of them are on the board; null without one. */
  get ahead() {
    const followed = this.#followed();
    return followed === null ? null : this.line.answer.moves.slice(followed).map(({ move }) => move);
  }

  /** Find the best line from here, unless this is on it. */
  async find() {
    if (this.ahead?.length) return;
    const signal = this.#latest.begin();
    const { nodes, index } = this.session;
    const answer = await askLine(this.session.query, LIMIT_PLIES, signal);
    const before = nodes.slice(0, index + 1).map(({ move }) => move?.move);
    this.line = { answer, ruleset: this.session.ruleset, start: nodes[0].query.fen, before, index };
    this.#announce();
  }

  /** Play it to its end, or the next `plies` of it at once. Errors are those of the server. */
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

  /** How many moves of the line have been made on the board; null where the board is not on it. */
  #followed() {
    if (!this.line) return null;
    const { nodes, index, ruleset } = this.session;
    const { start, before, answer } = this.line;
    if (ruleset !== this.line.ruleset || index < this.line.index || nodes[0].query.fen !== start) return null;
    const made = nodes.slice(0, index + 1).map(({ move }) => move?.move);
    const wanted = [...before, ...answer.moves.map(({ move }) => move)].slice(0, index + 1);
    return made.length === wanted.length && made.every((move, ply) => move === wanted[ply])
      ? index - this.line.index
      : null;
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
    if (!this.playing || index >= this.#goal || !move) return this.pause();
    this.#stepping = true;
    this.session.play(move);
    this.#stepping = false;
  }
}
