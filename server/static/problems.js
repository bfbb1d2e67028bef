/** Errors in plain sentences, in the language of the page. */

import { ProblemError, UnreachableError } from "./api.js";
import { html } from "./dom.js";
import { has, t } from "./i18n.js";

/** Something that the page itself refuses, and asks no server about: `key` is the message that says why. */
export class RefusedError extends Error {
  constructor(key) {
    super(key);
    Object.assign(this, { name: "RefusedError", key });
  }
}

/** The kinds of problem whose detail tells a player more than the sentence does. Others are about parameters. */
const PARTICULAR = ["bad-notation", "illegal-position", "bad-counter", "bad-ruleset", "bad-material", "no-such-material"];

export const kindOf = error => error.type?.split(":").at(-1);

/** What an error means for who reads it, as the content of an element. */
export function problemText(error) {
  if (error instanceof RefusedError) return [t(error.key)];
  if (error instanceof UnreachableError) return [t("problem.unreachable")];
  if (!(error instanceof ProblemError)) return [t("problem.page", { detail: error.message })];
  const kind = kindOf(error), keys = [`problem.${kind}`, `problem.status${error.status}`, "problem.other"];
  return [t(keys.find(has)), PARTICULAR.includes(kind) ? [" ", serverText(error.detail)] : null];
}

/** What the server says in particular, which it says in English. */
export const serverText = text => html("small", { lang: "en", class: "particular" }, `(${text})`);
