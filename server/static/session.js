/**
 * The game on the board: its positions, its moves, and the server's answer for the current position.
 *
 * @import { GameQuery, PositionReport, RuledMove } from "./api.js"
 * @import { Counters } from "./position.js"
 *
 * @typedef {object} MadeMove
 * @property {string} move
 * @property {string[]} path
 * @property {string[]} captured
 * @property {string[]} [squares] the squares of a move of a judged game, which has no path
 *
 * @typedef {object} GameNode A position of the game.
 * @property {string | null} fen null until the server has answered or a move led here
 * @property {Counters | null} counters
 * @property {GameQuery} query the parameters of its request
 * @property {GameQuery} [given] the parameters that the node began with
 * @property {MadeMove | null} move the move that led here
 *
 * @typedef {"loaded" | "replaced" | "restored" | "played" | "stepped" | "ruled"} Change
 */

import { askPosition, isDropped, Latest, ProblemError, RefusedError, UnreachableError } from "./api.js";
import { fenHasNumbers, parseFen, withCounters } from "./position.js";
import { countedOn, recounted } from "./recount.js";
import { countsMoves } from "./verdict.js";

/**
 * @param {GameQuery} query
 * @returns {GameNode}
 */
const beginning = query => ({ query, given: query, fen: null, counters: null, move: null });

/**
 * Nodes as they began. Some rules count what others do not: their counters must not come from the others.
 *
 * @param {GameNode[]} nodes
 */
const asGiven = nodes => nodes.map(node => ({ ...node, query: node.given ?? node.query }));

export class Session extends EventTarget {
  /** @type {GameNode[]} */
  nodes;
  index = 0;
  ruleset = "official";
  /** @type {PositionReport | null} */
  answer = null;
  /** @type {unknown} */
  problem = null;
  #latest = new Latest();
  /** Whether the counters of the nodes are those of the current rules. */
  counted = true;

  /**
   * The session sends no request before the first `load` or `restore`.
   *
   * @param {GameQuery} query
   */
  constructor(query) {
    super();
    this.nodes = [beginning(query)];
  }

  /** The node on the board. */
  get node() {
    return this.nodes[this.index];
  }

  get canBack() {
    return this.index > 0;
  }

  get canForward() {
    return this.index < this.nodes.length - 1;
  }

  /** The moves of the game, those after the current position too. */
  get moves() {
    return this.nodes.flatMap(({ move }) => move ?? []);
  }

  /** The side to move in the first position. */
  get startTurn() {
    const [{ fen, query }] = this.nodes;
    return parseFen(fen ?? query.fen)?.turn ?? "white";
  }

  /** The parameters of the request for the current position. */
  get query() {
    return { ...this.node.query, ruleset: this.ruleset };
  }

  /**
   * Begin a game with a position.
   *
   * @param {GameQuery} query
   */
  load(query, { quiet = false } = {}) {
    this.nodes = [beginning(query)];
    this.index = 0;
    this.counted = true;
    this.#changed(quiet ? "replaced" : "loaded");
  }

  /**
   * Take over a whole game, as the history of the browser keeps it.
   *
   * @param {GameNode[]} nodes
   * @param {number} index
   * @param {{ counted?: boolean }} options whether the current rules counted it
   */
  restore(nodes, index, { counted = true } = {}) {
    this.nodes = counted ? nodes : asGiven(nodes);
    this.index = index;
    this.counted = counted;
    this.#changed("restored");
  }

  /**
   * Make a move of the answer. Another move than the next one of the game replaces the rest of the game.
   *
   * @param {RuledMove} move
   * @param {number} shown how many steps of the move the board shows already
   */
  play(move, shown = 0) {
    const next = this.nodes[this.index + 1];
    if (next?.move?.move === move.move) return this.to(this.index + 1, shown);
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
    // Only the server counts repeated moves.
    if (countsMoves(this.ruleset)) this.counted = false;
    this.#changed("played", shown);
  }

  /**
   * Go to a position of the game.
   *
   * @param {number} index
   * @param {number | null} shown how many steps of the move the board shows already
   */
  to(index, shown = null) {
    if (index < 0 || index >= this.nodes.length || index === this.index) return;
    const forward = index === this.index + 1;
    this.index = index;
    this.#changed("stepped", forward ? (shown ?? 0) : null);
  }

  /**
   * Change the rules.
   *
   * @param {string} name
   * @param {{ counted?: boolean }} options whether the view has the game judged, and so counted, by them
   */
  setRuleset(name, { counted = false } = {}) {
    this.ruleset = name;
    this.nodes = asGiven(this.nodes);
    this.counted = counted;
    this.#changed("ruled");
  }

  /** Request the values of the current position. */
  async ask() {
    const signal = this.#latest.begin();
    this.answer = null;
    this.problem = null;
    try {
      // Only the player knows which squares the numbers mean.
      if (fenHasNumbers(this.node.query.fen) && !this.node.query.numbering)
        throw new RefusedError("numbering.needed");
      await this.#recount(signal);
      const { node } = this;
      const answer = await askPosition(this.query, signal);
      Object.assign(node, {
        fen: answer.fen,
        counters: answer.counters,
        query: { fen: withCounters(answer.fen, answer.counters) },
      });
      this.answer = answer;
    } catch (error) {
      if (isDropped(error)) return;
      this.problem = error;
    }
    this.dispatchEvent(new Event("answered"));
  }

  /**
   * @param {Change} how
   * @param {number | null} shown
   */
  #changed(how, shown = null) {
    // The answer for another position must not pass for that of this one.
    this.answer = null;
    this.problem = null;
    this.dispatchEvent(new CustomEvent("changed", { detail: { how, shown } }));
    this.ask();
  }

  /**
   * Count the moves by the current rules. If that fails, each node keeps what it began with.
   *
   * @param {AbortSignal} signal
   */
  async #recount(signal) {
    if (this.counted || this.nodes.length === 1) return;
    const { nodes } = this;
    try {
      const counts = await recounted(nodes, this.ruleset, signal);
      nodes.forEach((node, index) => {
        if (index === 0 || node.fen === null) return;
        const counters = counts[index];
        Object.assign(node, { counters, query: { fen: withCounters(node.fen, counters) } });
      });
      this.counted = true;
    } catch (error) {
      if (isDropped(error)) throw error;
      // If the server was only out of reach, the next request tries once more.
      const outOfReach =
        error instanceof UnreachableError || (error instanceof ProblemError && error.status === 503);
      this.counted = !outOfReach;
    }
  }
}
