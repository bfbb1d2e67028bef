/** Squares written as numbers: where a text has them, and what they may mean. */

import { html } from "./dom.js";
import { t } from "./i18n.js";
import { withoutFields } from "./position.js";

/** By the square that has number 1, as the server names them. */
const NUMBERINGS = ["a1", "b8", "g1"];

/** Whether the squares of a FEN are numbers; its counters are none. */
export const fenHasNumbers = fen => withoutFields(fen).split(":").slice(1).some(field =>
  /^[WB]/i.test(field) && field.slice(1).split(",").some(item => /^\s*K?\d/i.test(item)));

// One that is not closed goes on to the end, of the text or of its line: to look for what closes each is slow.
const COMMENT_OR_TAG = /\{[^}]*\}?|;.*|\[[^\]\n]*\]?/g;
// Two different numbers from 1 to 32, and so no result.
const MOVE = /(?<![\d/])([1-9]|[12]\d|3[0-2])\s*[-–x×:]\s*(?!\1(?!\d))([1-9]|[12]\d|3[0-2])(?![\d/])/;

/** Whether the squares of a game in PDN are numbers: those of its moves, or of the position that it begins in. */
export function pdnHasNumbers(text) {
  const [, fen = ""] = /\[\s*FEN\s*"([^"]*)"/i.exec(text) ?? [];
  return fenHasNumbers(fen) || MOVE.test(text.replace(COMMENT_OR_TAG, " "));
}

/** The options of a choice of numbering; `none` is what stands for no choice. */
export const numberingOptions = (chosen, none) => [["", none], ...NUMBERINGS.map(name => [name, t(`numbering.${name}`)])]
  .map(([value, text]) => html("option", { value, selected: value === chosen }, text));
