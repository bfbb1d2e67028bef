/**
 * What is on the board: a game from some position on, the moves made, and what the server says of where it stands.
 *
 * A node is `{fen, counters, query, given, move}`: `query` are the parameters that ask for it, `given` those that it
 * began with; `fen` and `counters` are known once it came from a move or was answered; `move` (with `path`) led to it.
 */

import { askDrawCases, askPosition, isDropped, Latest, RefusedError, UnreachableError } from "./api.js";
import { fenHasNumbers, parseFen, withCounters } from "./position.js";
import { countedOn, recounted } from "./recount.js";
import { countsMoves } from "./verdict.js";

const beginning = query => ({ query, given: query, fen: null, counters: null, move: null });

/** Nodes as they began. What some rules count, others may not: these are not to be asked about what was left of it. */
const asGiven = nodes => nodes.map(node => ({ ...node, query: node.given ?? node.query }));

export class Session extends EventTarget {
  nodes = [];
  index = 0;
  ruleset = "official";
  answer = null;
  cases = [];
  problem = null;
  #latest = new Latest();
  /** Whether the counts of the nodes are those of the rules that hold. */
  counted = true;

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
    this.counted = true;
    this.#changed(quiet ? "replaced" : "loaded");
  }

  /** Take over a whole game, as the history of the browser keeps it; `counted`: under the rules that hold now. */
  restore(nodes, index, { counted = true } = {}) {
    this.nodes = counted ? nodes : asGiven(nodes);
    this.index = index;
    this.counted = counted;
    this.#changed("restored");
  }

  /** Make a move of the answer; moves that were taken back are forgotten, unless it is the same one. */
  play(move, shown = 0) {
    const next = this.nodes[this.index + 1];
    if (next?.move.move === move.move) return this.to(this.index + 1, shown);
    const { fen } = move.after;
    const earlier = this.nodes.slice(0, this.index + 1);
    const counters = countedOn(earlier, fen, move.after.counters, this.ruleset);
    const query = { fen: withCounters(fen, counters) };
    this.nodes = [
      ...this.nodes.slice(0, this.index + 1),
      {
        fen,
        counters,
        query,
        given: query,
        move: { move: move.move, path: move.path, captured: move.captured },
      },
    ];
    this.index += 1;
    // Moves that are repeated the server alone counts.
    if (countsMoves(this.ruleset)) this.counted = false;
    this.#changed("played", shown);
  }

  /** Go to one of its positions. */
  to(index, shown = null) {
    if (index < 0 || index >= this.nodes.length || index === this.index) return;
    const forward = index === this.index + 1;
    this.index = index;
    this.#changed("stepped", forward ? (shown ?? 0) : null);
  }

  /** Have other rules hold; `counted`: whoever asks has the game judged by them anyway. */
  setRuleset(name, { counted = false } = {}) {
    this.ruleset = name;
    this.nodes = asGiven(this.nodes);
    this.counted = counted;
    this.#changed("ruled");
  }

  /** Ask again, after an answer did not come. */
  async ask() {
    const signal = this.#latest.begin();
    this.answer = null;
    this.problem = null;
    try {
      // Which squares are meant nobody but the player knows.
      if (fenHasNumbers(this.node.query.fen) && !this.node.query.numbering)
        throw new RefusedError("numbering.needed");
      await this.#recount(signal);
      const { node } = this;
      const [answer, { cases }] = await Promise.all([
        askPosition(this.query, signal),
        askDrawCases(this.query, signal),
      ]);
      Object.assign(node, {
        fen: answer.fen,
        counters: answer.counters,
        query: { fen: withCounters(answer.fen, answer.counters) },
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

  /** Have the moves counted as the rules that hold now count them. Where that fails, what each node began with stands. */
  async #recount(signal) {
    if (this.counted || this.nodes.length === 1) return;
    const { nodes } = this;
    try {
      const counts = await recounted(nodes, this.ruleset, signal);
      nodes.slice(1).forEach((node, index) => {
        const counters = counts[index + 1];
        Object.assign(node, { counters, query: { fen: withCounters(node.fen, counters) } });
      });
      this.counted = true;
    } catch (error) {
      if (isDropped(error)) throw error;
      // A server that comes back is asked once more.
      this.counted = !(error instanceof UnreachableError || error.status === 503);
    }
  }
}
