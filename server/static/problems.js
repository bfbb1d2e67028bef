/** Errors in plain sentences. */

import { ProblemError, UnreachableError } from "./api.js";
import { has, t } from "./i18n.js";

/** What an error means for who reads it. What the server says in detail it says in English. */
export function problemSentence(error) {
  if (error instanceof UnreachableError) return t("problem.unreachable");
  if (!(error instanceof ProblemError)) return t("problem.page", { detail: error.message });
  const kind = error.type.split(":").at(-1), key = `problem.${kind}`;
  const detail = error.message.charAt(0).toUpperCase() + error.message.slice(1);
  const ended = /[.!?]$/.test(detail) ? detail : `${detail}.`;
  return has(key) ? `${t(key)} ${ended}` : ended;
}
