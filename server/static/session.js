/**
 * What is on the board: a game from some position on, the moves made, and what the server says of where it stands.
 *
 * A node is `{fen, counters, query, given, move}`: `query` are the parameters that ask for it, `given` those that it
 * began with; `fen` and `counters` are known once it came from a move or was answered; `move` (with `path`) led to it.
 */

import { askDrawCases, askPosition, isDropped, Latest } from "./api.js";
import { fenHasNumbers } from "./numbers.js";
import { FRESH, parseFen, withCounters } from "./position.js";
import { RefusedError } from "./problems.js";

const beginning = query => ({ query, given: query, fen: null, counters: null, move: null });

export class Session extends EventTarget {
  nodes = [];
  index = 0;
  ruleset = "official";
  answer = null;
  cases = [];
  problem = null;
  #latest = new Latest();

  /** Nothing is asked before the first `load` or `restore`. */
  constructor(query) {
    super();
    this.nodes = [beginning(query)];
  }

  /** The node that is on the board. */
  get node() {
    return this.nodes[this.index];
  }

  get canBack() {
    return this.index > 0;
  }

  get canForward() {
    return this.index < this.nodes.length - 1;
  }

  /** Whose turn it was where it began. */
  get startTurn() {
    const [{ fen, query }] = this.nodes;
    return parseFen(fen ?? query.fen)?.turn ?? "white";
  }

  /** The parameters that ask the server for where it stands. */
  get query() {
    return { ...this.node.query, ruleset: this.ruleset };
  }

  /** Begin with a position; `query` has at least its `fen`. */
  load(query, { quiet = false } = {}) {
    this.nodes = [beginning(query)];
    this.index = 0;
    this.#changed(quiet ? "replaced" : "loaded");
  }

  /** Take over a whole game, as the history of the browser keeps it. */
  restore(nodes, index) {
    this.nodes = nodes;
    this.index = index;
    this.#changed("restored");
  }

  /** Make a move of the answer; moves that were taken back are forgotten, unless it is the same one. */
  play(move, shown = 0) {
    const next = this.nodes[this.index + 1];
    if (next?.move.move === move.move) return this.to(this.index + 1, shown);
    const { fen } = move.after, counters = this.#counted(fen, move.after.counters);
    const query = { fen: withCounters(fen, counters) };
    this.nodes = [...this.nodes.slice(0, this.index + 1), {
      fen, counters, query, given: query,
      move: { move: move.move, path: move.path, captured: move.captured },
    }];
    this.index += 1;
    this.#changed("played", shown);
  }

  /** Go to one of its positions. */
  to(index, shown = null) {
    if (index < 0 || index >= this.nodes.length || index === this.index) return;
    const forward = index === this.index + 1;
    this.index = index;
    this.#changed("stepped", forward ? shown ?? 0 : null);
  }

  setRuleset(name) {
    this.ruleset = name;
    // What these rules count, others may not: they are asked about what was given, not about what was left of it.
    this.nodes = this.nodes.map(node => ({ ...node, query: node.given ?? node.query }));
    this.#changed("ruled");
  }

  /** Ask again, after an answer did not come. */
  async ask() {
    const signal = this.#latest.begin(), { node } = this;
    this.answer = null;
    this.problem = null;
    try {
      // Which squares are meant nobody but the player knows.
      if (fenHasNumbers(node.query.fen) && !node.query.numbering) throw new RefusedError("numbering.needed");
      const [answer, { cases }] = await Promise.all([
        askPosition(this.query, signal), askDrawCases(this.query, signal),
      ]);
      Object.assign(node, {
        fen: answer.fen, counters: answer.counters, query: { fen: withCounters(answer.fen, answer.counters) },
      });
      this.answer = answer;
      this.cases = cases;
    } catch (error) {
      if (isDropped(error)) return;
      this.problem = error;
    }
    this.dispatchEvent(new Event("answered"));
  }

  #changed(how, shown = null) {
    // Nobody is to take the answer of another position for that of this one.
    this.answer = null;
    this.problem = null;
    this.dispatchEvent(new CustomEvent("changed", { detail: { how, shown } }));
    this.ask();
  }

  /**
   * The counters after a move. The server knows no earlier positions: how often this one has come up in the moves
   * made here is counted here. Moves that are repeated, as one ruleset counts them, are not.
   */
  #counted(fen, counters) {
    if (this.ruleset === "classic") return counters;
    const earlier = this.nodes.slice(0, this.index + 1).filter(node => node.fen === fen);
    const before = earlier.length ? Math.max(...earlier.map(node => node.counters.repetitions)) : 0;
    return { ...FRESH, ...counters, repetitions: Math.max(counters.repetitions, before + 1, 1) };
  }
}
