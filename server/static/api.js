/**
 * The server: requests, answers and errors.
 *
 * The types of the answers come from the server's OpenAPI document: `make types` writes them.
 *
 * @import { Child } from "./dom.js"
 * @typedef {import("../../types/openapi.js").components["schemas"]} Schemas
 * @typedef {Schemas["Position"]} PositionReport
 * @typedef {PositionReport["outcome"]} Outcome
 * @typedef {PositionReport["rules_outcome"]} RulesOutcome
 * @typedef {Schemas["RuledMove"]} RuledMove
 * @typedef {Schemas["RuleState"]} RuleState
 * @typedef {Schemas["PositionRule"]} PositionRule
 * @typedef {Schemas["Line"]} LineReport
 * @typedef {Schemas["Game"]} GameReport
 * @typedef {Schemas["GameProblem"]} GameProblem
 * @typedef {Schemas["Mistake"]} Mistake
 * @typedef {Schemas["Stand"]} GameState
 * @typedef {Schemas["Materials"]} MaterialsReport
 * @typedef {Schemas["Material"]} MaterialReport
 * @typedef {Schemas["MaterialDetails"]} MaterialDetails
 * @typedef {Schemas["Ruleset"]} RulesetReport
 *
 * @typedef {{ fen: string, ruleset?: string, [parameter: string]: string | undefined }} GameQuery
 *   The parameters that name a game: `fen`, and perhaps counters, `numbering` and `ruleset`.
 * @typedef {RequestInit & { query?: Record<string, string | number | null | undefined> }} Options
 */

import { html } from "./dom.js";
import { has, t } from "./i18n.js";

/** The server answered with a problem: `title`, `detail` and `type` as RFC 9457 defines them. */
export class ProblemError extends Error {
  name = "ProblemError";
  /** @type {string} */
  type;
  /** @type {string} */
  detail;
  /** @type {number} */
  status;

  /**
   * @param {Partial<Schemas["Problem"]>} problem
   * @param {number} status
   */
  constructor({ type = "about:blank", title = "", detail = "" }, status) {
    super(detail || title);
    this.type = type;
    this.detail = detail;
    this.status = status;
  }
}

/** The server did not answer, or another server did. */
export class UnreachableError extends Error {
  name = "UnreachableError";
}

/** The page refuses an input without a request: `key` names the message that says why. */
export class RefusedError extends Error {
  name = "RefusedError";
  /** @type {string} */
  key;

  /** @param {string} key */
  constructor(key) {
    super(key);
    this.key = key;
  }
}

/** The newest of several requests of one kind: a new request cancels the one before it. */
export class Latest {
  /** @type {AbortController | null} */
  #controller = null;

  /** Cancel the request before, and return the signal of a new one. */
  begin() {
    this.drop();
    this.#controller = new AbortController();
    return this.#controller.signal;
  }

  /** Cancel the request. */
  drop() {
    this.#controller?.abort();
  }
}

/**
 * Whether an error says only that a request was cancelled.
 *
 * @param {unknown} error
 */
export const isDropped = error => /** @type {Error} */ (error).name === "AbortError";

/** How often a request is repeated when the server is busy or limits the rate. */
const TIMES_AGAIN = 3;
/** The longest wait that the server may ask for, in seconds. If it asks for more, the player decides. */
const PATIENCE = 5;

/**
 * Wait some seconds, unless the request is cancelled.
 *
 * @param {number} seconds
 * @param {AbortSignal | null} [signal]
 * @returns {Promise<void>}
 */
function pause(seconds, signal) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, 1000 * seconds);
    signal?.addEventListener(
      "abort",
      () => {
        clearTimeout(timer);
        reject(signal.reason);
      },
      { once: true },
    );
  });
}

/**
 * @param {string} address
 * @param {RequestInit} options
 */
async function fetchPatiently(address, options) {
  for (let again = 0; ; again++) {
    const response = await fetch(address, options);
    const seconds = Number(response.headers.get("Retry-After") ?? Infinity);
    if (response.ok || again >= TIMES_AGAIN || !(seconds <= PATIENCE)) return response;
    await pause(seconds, options.signal);
  }
}

/**
 * @param {string} path
 * @param {Options} options
 * @returns {Promise<any>}
 */
async function ask(path, { query = {}, ...options } = {}) {
  const given = Object.entries(query)
    .filter(([, value]) => value !== null && value !== undefined)
    .map(([name, value]) => [name, String(value)]);
  const address = given.length ? `${path}?${new URLSearchParams(given)}` : path;
  let response;
  let answer;
  try {
    response = await fetchPatiently(address, options);
    answer = await response.json();
  } catch (error) {
    if (isDropped(error)) throw error;
    throw new UnreachableError(/** @type {Error} */ (error).message);
  }
  options.signal?.throwIfAborted();
  if (response.ok) return answer;
  if (typeof answer?.title !== "string") throw new UnreachableError(`status ${response.status}`);
  throw new ProblemError(answer, response.status);
}

/**
 * @param {GameQuery} game
 * @param {AbortSignal} signal
 * @returns {Promise<PositionReport>}
 */
export const askPosition = (game, signal) => ask("/v1/position", { query: game, signal });

/**
 * @param {GameQuery} game
 * @param {number} limit the most plies
 * @param {AbortSignal} signal
 * @returns {Promise<LineReport>}
 */
export const askLine = (game, limit, signal) => ask("/v1/line", { query: { ...game, limit }, signal });

/**
 * Ask for the values of many positions. Each result is a position or a problem.
 *
 * @param {string[]} positions
 * @param {string} ruleset
 * @param {AbortSignal} signal
 * @returns {Promise<Schemas["Positions"]>}
 */
export const askPositions = (positions, ruleset, signal) =>
  ask("/v1/positions", {
    signal,
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ positions, ruleset }),
  });

/**
 * Have the games of a text in PDN judged.
 *
 * @param {string} pdn
 * @param {string} ruleset
 * @param {string | null} numbering
 * @param {AbortSignal} signal
 * @returns {Promise<Schemas["Games"]>}
 */
export const askGames = (pdn, ruleset, numbering, signal) =>
  ask("/v1/game", {
    query: { ruleset, numbering },
    signal,
    method: "POST",
    headers: { "Content-Type": "text/plain; charset=utf-8" },
    body: pdn,
  });

/**
 * @param {AbortSignal} [signal]
 * @returns {Promise<MaterialsReport>}
 */
export const askMaterials = signal => ask("/v1/materials", { signal });

/**
 * @param {string} name
 * @param {AbortSignal} signal
 * @returns {Promise<MaterialDetails>}
 */
export const askMaterial = (name, signal) => ask(`/v1/materials/${encodeURIComponent(name)}`, { signal });

/**
 * @param {string} material
 * @param {string} outcome
 * @param {AbortSignal} signal
 * @returns {Promise<Schemas["Random"]>}
 */
export const askRandom = (material, outcome, signal) =>
  ask("/v1/random", { query: { material, outcome }, signal, cache: "no-store" });

/** @returns {Promise<Schemas["Rulesets"]>} */
export const askRulesets = () => ask("/v1/rulesets");

/** Kinds of problem whose detail helps a player. The details of other kinds are about parameters. */
const PARTICULAR = [
  "bad-notation",
  "illegal-position",
  "bad-counter",
  "bad-ruleset",
  "bad-material",
  "no-such-material",
];

/**
 * The kind of a problem, or undefined for other errors.
 *
 * @param {unknown} error
 */
export const kindOf = error => (error instanceof ProblemError ? error.type.split(":").at(-1) : undefined);

/**
 * An error as a sentence in the language of the page.
 *
 * @param {unknown} error
 * @returns {Child[]}
 */
export function problemText(error) {
  if (error instanceof RefusedError) return [t(error.key)];
  if (error instanceof UnreachableError) return [t("problem.unreachable")];
  if (!(error instanceof ProblemError))
    return [t("problem.page", { detail: /** @type {Error} */ (error).message })];
  const kind = kindOf(error) ?? "";
  const key = [`problem.${kind}`, `problem.status${error.status}`].find(has) ?? "problem.other";
  return [t(key), PARTICULAR.includes(kind) ? [" ", serverText(error.detail)] : null];
}

/**
 * A text of the server, which is in English.
 *
 * @param {string} text
 */
export const serverText = text => html("small", { lang: "en", class: "particular" }, `(${text})`);
