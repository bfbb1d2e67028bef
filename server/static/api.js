/** The server: questions, answers, and what can go wrong. */

import { html } from "./dom.js";
import { has, t } from "./i18n.js";

/** The server answered with a problem: `title`, `detail` and `type` as RFC 9457 has them. */
export class ProblemError extends Error {
  constructor({ type, title, detail }, status) {
    super(detail || title);
    Object.assign(this, { name: "ProblemError", type: type ?? "about:blank", title, detail, status });
  }
}

/** The server did not answer, or what answered was not this server. */
export class UnreachableError extends Error {
  name = "UnreachableError";
}

/**
 * The newest of several questions of one kind: asking anew drops the one before, whose answer never arrives.
 */
export class Latest {
  #controller = null;

  /** The signal of a new question. */
  begin() {
    this.drop();
    this.#controller = new AbortController();
    return this.#controller.signal;
  }

  /** Want no answer any more. */
  drop() {
    this.#controller?.abort();
  }
}

/** Whether an error only says that the answer is not wanted any more. */
export const isDropped = error => error.name === "AbortError";

/** How often a server that is busy, or was asked too often, is asked again before somebody is told so. */
const TIMES_AGAIN = 3;
/** The longest that it may want us to wait, in seconds: more is for somebody to decide. */
const PATIENCE = 5;

/** Resolves after so many seconds; an answer that is not wanted any more need not wait. */
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

async function fetchPatiently(address, options) {
  for (let again = 0; ; again++) {
    const response = await fetch(address, options);
    const seconds = Number(response.headers.get("Retry-After") ?? Infinity);
    if (response.ok || again >= TIMES_AGAIN || !(seconds <= PATIENCE)) return response;
    await pause(seconds, options.signal);
  }
}

async function ask(path, { query = {}, ...options } = {}) {
  const { signal } = options;
  const given = Object.entries(query).filter(([, value]) => value !== null && value !== undefined);
  const address = given.length ? `${path}?${new URLSearchParams(given)}` : path;
  let response;
  let answer;
  try {
    response = await fetchPatiently(address, options);
    answer = await response.json();
  } catch (error) {
    if (isDropped(error)) throw error;
    throw new UnreachableError(error.message);
  }
  signal?.throwIfAborted();
  if (response.ok) return answer;
  if (typeof answer?.title !== "string") throw new UnreachableError(`status ${response.status}`);
  throw new ProblemError(answer, response.status);
}

/** `game` has the parameters that name a game: `fen`, perhaps counters and `numbering`, and `ruleset`. */
export const askPosition = (game, signal) => ask("/v1/position", { query: game, signal });
export const askDrawCases = (game, signal) => ask("/v1/draw-cases", { query: game, signal });
export const askLine = (game, limit, signal) => ask("/v1/line", { query: { ...game, limit }, signal });

/** Values of many positions: one result each, `position` or `problem`. */
export const askPositions = (positions, ruleset, signal) =>
  ask("/v1/positions", {
    signal,
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ positions, ruleset }),
  });

/** The games of a text in PDN, judged. */
export const askGames = (pdn, ruleset, numbering, signal) =>
  ask("/v1/game", {
    query: { ruleset, numbering },
    signal,
    method: "POST",
    headers: { "Content-Type": "text/plain; charset=utf-8" },
    body: pdn,
  });

export const askMaterials = signal => ask("/v1/materials", { signal });
export const askMaterial = (name, signal) => ask(`/v1/materials/${encodeURIComponent(name)}`, { signal });
export const askRandom = (material, outcome, signal) =>
  ask("/v1/random", { query: { material, outcome }, signal, cache: "no-store" });
export const askRulesets = signal => ask("/v1/rulesets", { signal });

/** Something that the page itself refuses, and asks no server about: `key` is the message that says why. */
export class RefusedError extends Error {
  constructor(key) {
    super(key);
    Object.assign(this, { name: "RefusedError", key });
  }
}

/** The kinds of problem whose detail tells a player more than the sentence does. Others are about parameters. */
const PARTICULAR = [
  "bad-notation",
  "illegal-position",
  "bad-counter",
  "bad-ruleset",
  "bad-material",
  "no-such-material",
];

export const kindOf = error => error.type?.split(":").at(-1);

/** What an error means for who reads it, as the content of an element. */
export function problemText(error) {
  if (error instanceof RefusedError) return [t(error.key)];
  if (error instanceof UnreachableError) return [t("problem.unreachable")];
  if (!(error instanceof ProblemError)) return [t("problem.page", { detail: error.message })];
  const kind = kindOf(error);
  const keys = [`problem.${kind}`, `problem.status${error.status}`, "problem.other"];
  return [t(keys.find(has)), PARTICULAR.includes(kind) ? [" ", serverText(error.detail)] : null];
}

/** What the server says in particular, which it says in English. */
export const serverText = text => html("small", { lang: "en", class: "particular" }, `(${text})`);
