/** The address: it always names the position, the ruleset and the view, so that it can be shared. */

import { COUNTERS } from "./position.js";

const VIEWS = ["analysis", "practice", "statistics", "game"];

const GAME_PARAMETERS = ["fen", "numbering", ...COUNTERS];
/** What single views keep: which statistics are seen; the task of a practice. */
const VIEW_PARAMETERS = ["material", "pieces", "side", "goal"];

/** What the address says: `view`, `ruleset`, `query` (null where it names no position) and what a view keeps. */
export function readAddress() {
  const given = new URLSearchParams(location.search);
  const named = GAME_PARAMETERS.filter(name => given.has(name)).map(name => [name, given.get(name)]);
  const view = given.get("view");
  return {
    view: VIEWS.includes(view) ? view : "analysis",
    ruleset: given.get("ruleset") ?? "official",
    query: given.has("fen") ? Object.fromEntries(named) : null,
    ...Object.fromEntries(VIEW_PARAMETERS.map(name => [name, given.get(name)])),
  };
}

/** The address of a state, for links; parts that are as usual are left out. */
export function addressOf({ view = "analysis", ruleset = "official", query = null, ...kept }) {
  const parts = [];
  if (view !== "analysis") parts.push(["view", view]);
  parts.push(...Object.entries(query ?? {}));
  if (ruleset !== "official") parts.push(["ruleset", ruleset]);
  parts.push(...VIEW_PARAMETERS.filter(name => kept[name]).map(name => [name, kept[name]]));
  // Letters of a FEN that need no quoting stay readable.
  const quote = text => encodeURIComponent(text).replace(/%(3A|2C)/g, decodeURIComponent);
  return parts.length ? `?${parts.map(([name, value]) => `${name}=${quote(value)}`).join("&")}` : "/";
}

/** Put a state into the address; `kept` comes back with it from the history. */
export function writeAddress(state, kept, { replace }) {
  history[replace ? "replaceState" : "pushState"](kept, "", addressOf(state));
}
