/**
 * The address of the page. It always names the view, the position and the ruleset, so that players can share
 * it.
 *
 * @import { GameQuery } from "./api.js"
 *
 * @typedef {object} ViewState What a view keeps in the address.
 * @property {string | null} [material]
 * @property {string | number | null} [pieces]
 * @property {string | null} [side]
 * @property {string | null} [goal]
 *
 * @typedef {ViewState & { view?: string, ruleset?: string, query?: GameQuery | null }} PageState
 */

import { COUNTERS } from "./position.js";

const VIEWS = ["analysis", "practice", "statistics", "game"];

const GAME_PARAMETERS = ["fen", "numbering", ...COUNTERS];
const VIEW_PARAMETERS = /** @type {const} */ (["material", "pieces", "side", "goal"]);

/** Read the address. `query` is null if the address names no position. */
export function readAddress() {
  const given = new URLSearchParams(location.search);
  const view = given.get("view") ?? "";
  const fen = given.get("fen");
  const named = GAME_PARAMETERS.flatMap(name => {
    const value = given.get(name);
    return value === null ? [] : [[name, value]];
  });
  return {
    view: VIEWS.includes(view) ? view : "analysis",
    ruleset: given.get("ruleset") ?? "official",
    query: fen === null ? null : { ...Object.fromEntries(named), fen },
    material: given.get("material"),
    pieces: given.get("pieces"),
    side: given.get("side"),
    goal: given.get("goal"),
  };
}

/**
 * The address of a state. Default values are left out.
 *
 * @param {PageState} state
 */
export function addressOf({ view = "analysis", ruleset = "official", query = null, ...kept }) {
  /** @type {[string, string][]} */
  const parts = [];
  if (view !== "analysis") parts.push(["view", view]);
  for (const [name, value] of Object.entries(query ?? {})) parts.push([name, String(value)]);
  if (ruleset !== "official") parts.push(["ruleset", ruleset]);
  for (const name of VIEW_PARAMETERS) if (kept[name]) parts.push([name, String(kept[name])]);
  // Letters of a FEN that need no quoting stay readable.
  const quote = (/** @type {string} */ text) =>
    encodeURIComponent(text).replace(/%(3A|2C)/g, decodeURIComponent);
  return parts.length ? `?${parts.map(([name, value]) => `${name}=${quote(value)}`).join("&")}` : "/";
}

/**
 * Write a state into the address, as a new entry of the history or in place of the current one.
 *
 * @param {PageState} state
 * @param {object} kept data that the history returns with this entry
 * @param {{ replace: boolean }} options
 */
export function writeAddress(state, kept, { replace }) {
  history[replace ? "replaceState" : "pushState"](kept, "", addressOf(state));
}
