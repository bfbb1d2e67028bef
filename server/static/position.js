/**
 * Positions: squares by name, FEN, and squares written as numbers.
 *
 * @typedef {"white" | "black"} Side
 * @typedef {{ side: Side, king: boolean }} Piece
 * @typedef {Map<string, Piece>} Pieces pieces by square
 * @typedef {{ turn: Side, pieces: Pieces }} Position
 * @typedef {Record<string, number>} Counters the counters of a game by name, as the API has them
 */

import { html } from "./dom.js";
import { t } from "./i18n.js";

export const COUNTERS = ["king_plies", "balance_plies", "three_kings_moves", "road_moves", "repetitions"];
/** @type {Counters} */
export const FRESH = { king_plies: 0, balance_plies: 0, three_kings_moves: 0, road_moves: 0, repetitions: 1 };

const FILES = "abcdefgh";
const COUNTING = /:[CHF][\d,]*/g;

/** The 32 dark squares, a1 first, row by row. */
export const SQUARES = [...Array(8).keys()].flatMap(row =>
  [...FILES].filter((_, column) => (row + column) % 2 === 0).map(file => `${file}${row + 1}`),
);

/** @type {readonly Side[]} */
export const SIDES = ["white", "black"];

/** @param {string} square */
export const columnOf = square => FILES.indexOf(square[0]);
/** @param {string} square */
export const rowOf = square => Number(square[1]) - 1;
/**
 * @param {number} column
 * @param {number} row
 */
export const squareAt = (column, row) => `${FILES[column]}${row + 1}`;
/**
 * @param {number} column
 * @param {number} row
 */
export const isDark = (column, row) => (column + row) % 2 === 0;
/**
 * @param {Side} side
 * @returns {Side}
 */
export const otherSide = side => (side === "white" ? "black" : "white");

/**
 * Whether a square is on the last row of a side, where its men become kings.
 *
 * @param {string} square
 * @param {Side} side
 */
export const promotes = (square, side) => rowOf(square) === (side === "white" ? 7 : 0);

/**
 * Read a FEN with named squares; null for other texts. `counters` is null if the FEN has none. The server
 * decides whether the position is legal.
 *
 * @param {string} fen
 * @returns {Position & { counters: Counters | null } | null}
 */
export function parseFen(fen) {
  const [turn, ...fields] = fen.trim().replace(/\.$/, "").split(":");
  if (!/^[WB]$/.test(turn)) return null;
  /** @type {Pieces} */
  const pieces = new Map();
  let counters = null;
  for (const field of fields) {
    const counted = /^C(\d+(?:,\d+){4})$/.exec(field);
    if (counted) {
      const counts = counted[1].split(",").map(Number);
      counters = Object.fromEntries(COUNTERS.map((name, index) => [name, counts[index]]));
      continue;
    }
    if (!/^[WB]/.test(field)) continue;
    for (const item of field.slice(1).split(",").filter(Boolean)) {
      const piece = /^(K?)([a-h][1-8])$/.exec(item);
      if (!piece) return null;
      pieces.set(piece[2], { side: field[0] === "W" ? "white" : "black", king: piece[1] === "K" });
    }
  }
  return { turn: turn === "W" ? "white" : "black", pieces, counters };
}

/**
 * The counter fields of a FEN: those of this program and of lidraughts.
 *
 * @param {string} fen
 */
export const fieldsOf = fen => fen.match(COUNTING) ?? [];

/**
 * A FEN without its counter fields.
 *
 * @param {string} fen
 */
const withoutFields = fen => fen.replace(COUNTING, "");

/**
 * The FEN of a position, without counters: kings before men, squares in their order.
 *
 * @param {Position} position
 */
export function formatFen({ turn, pieces }) {
  const side = (/** @type {Side} */ color) => {
    const own = SQUARES.filter(square => pieces.get(square)?.side === color);
    const kings = own.filter(square => pieces.get(square)?.king).map(square => `K${square}`);
    return [...kings, ...own.filter(square => !pieces.get(square)?.king)].join(",");
  };
  return `${turn === "white" ? "W" : "B"}:W${side("white")}:B${side("black")}`;
}

/**
 * A FEN with counters. Fresh counters are left out.
 *
 * @param {string} fen
 * @param {Record<string, number | string> | null} counters
 */
export function withCounters(fen, counters) {
  const fresh = !counters || COUNTERS.every(name => counters[name] === FRESH[name]);
  return fresh ? fen : `${fen}:C${COUNTERS.map(name => counters[name]).join(",")}`;
}

/**
 * The same position for the other side: colours exchanged, the board turned, the other side to move.
 *
 * @param {Position} position
 * @returns {Position}
 */
export function swapSides({ turn, pieces }) {
  const turned = (/** @type {string} */ square) => squareAt(7 - columnOf(square), 7 - rowOf(square));
  /** @type {Pieces} */
  const swapped = new Map();
  for (const [square, { side, king }] of pieces) swapped.set(turned(square), { side: otherSide(side), king });
  return { turn: otherSide(turn), pieces: swapped };
}

/** The numberings of the server, each named by its square 1. */
const NUMBERINGS = ["a1", "b8", "g1"];

/**
 * Whether the squares of a FEN are numbers. Its counters do not count.
 *
 * @param {string} fen
 */
export const fenHasNumbers = fen =>
  withoutFields(fen)
    .split(":")
    .slice(1)
    .some(
      field =>
        /^[WB]/i.test(field) &&
        field
          .slice(1)
          .split(",")
          .some(item => /^\s*K?\d/i.test(item)),
    );

// An unclosed comment goes on to the end of the text, an unclosed tag to the end of its line. A search for
// the closing bracket of each would be slow.
const COMMENT_OR_TAG = /\{[^}]*\}?|;.*|\[[^\]\n]*\]?/g;
// Two different numbers from 1 to 32, and so no result.
const MOVE = /(?<![\d/])([1-9]|[12]\d|3[0-2])\s*[-–x×:]\s*(?!\1(?!\d))([1-9]|[12]\d|3[0-2])(?![\d/])/;

/**
 * Whether a game in PDN writes squares as numbers, in its moves or in its first position.
 *
 * @param {string} text
 */
export function pdnHasNumbers(text) {
  const [, fen = ""] = /\[\s*FEN\s*"([^"]*)"/i.exec(text) ?? [];
  return fenHasNumbers(fen) || MOVE.test(text.replace(COMMENT_OR_TAG, " "));
}

/**
 * The options of a list of numberings.
 *
 * @param {string} chosen
 * @param {string} none the text for no choice
 */
export const numberingOptions = (chosen, none) =>
  [["", none], ...NUMBERINGS.map(name => [name, t(`numbering.${name}`)])].map(([value, text]) =>
    html("option", { value, selected: value === chosen }, text),
  );
