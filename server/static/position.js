/** Positions: squares by name, and the FEN that the server writes. */

import { html } from "./dom.js";
import { t } from "./i18n.js";

export const COUNTERS = ["king_plies", "balance_plies", "three_kings_moves", "road_moves", "repetitions"];
export const FRESH = { king_plies: 0, balance_plies: 0, three_kings_moves: 0, road_moves: 0, repetitions: 1 };

const FILES = "abcdefgh";
const COUNTING = /:[CHF][\d,]*/g;

/** The 32 dark squares, a1 first, row by row. */
export const SQUARES = [...Array(8).keys()].flatMap(row =>
  [...FILES].filter((_, column) => (row + column) % 2 === 0).map(file => `${file}${row + 1}`),
);

export const columnOf = square => FILES.indexOf(square[0]);
export const rowOf = square => Number(square[1]) - 1;
export const squareAt = (column, row) => `${FILES[column]}${row + 1}`;
export const isDark = (column, row) => (column + row) % 2 === 0;
export const otherSide = side => (side === "white" ? "black" : "white");

/** Whether a man on that square would be on the row where it becomes a king. */
export const promotes = (square, side) => rowOf(square) === (side === "white" ? 7 : 0);

/**
 * What a FEN with named squares says: `turn`, `pieces` (a Map from square to `{side, king}`) and `counters`,
 * null where it has none. Null for a text that is no such FEN; whether a position is legal is for the server.
 */
export function parseFen(fen) {
  const [turn, ...fields] = fen.trim().replace(/\.$/, "").split(":");
  if (!/^[WB]$/.test(turn)) return null;
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

/** The fields of a FEN that count, as it has them: this program's and lidraughts'. */
export const fieldsOf = fen => fen.match(COUNTING) ?? [];

/** A FEN without them. */
export const withoutFields = fen => fen.replace(COUNTING, "");

/** The FEN of a position, without counters: kings before men, squares in their order. */
export function formatFen({ turn, pieces }) {
  const side = color => {
    const own = SQUARES.filter(square => pieces.get(square)?.side === color);
    const kings = own.filter(square => pieces.get(square).king).map(square => `K${square}`);
    return [...kings, ...own.filter(square => !pieces.get(square).king)].join(",");
  };
  return `${turn === "white" ? "W" : "B"}:W${side("white")}:B${side("black")}`;
}

/** A FEN with its counters, which a game that has just begun does without. */
export function withCounters(fen, counters) {
  const fresh = !counters || COUNTERS.every(name => counters[name] === FRESH[name]);
  return fresh ? fen : `${fen}:C${COUNTERS.map(name => counters[name]).join(",")}`;
}

/** The same position seen from the other side: colours exchanged, the board turned, the other side to move. */
export function swapSides({ turn, pieces }) {
  const turned = square => squareAt(7 - columnOf(square), 7 - rowOf(square));
  const swapped = [...pieces].map(([square, { side, king }]) => [
    turned(square),
    { side: otherSide(side), king },
  ]);
  return { turn: otherSide(turn), pieces: new Map(swapped) };
}

/** By the square that has number 1, as the server names them. */
const NUMBERINGS = ["a1", "b8", "g1"];

/** Whether the squares of a FEN are numbers; its counters are none. */
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
export const numberingOptions = (chosen, none) =>
  [["", none], ...NUMBERINGS.map(name => [name, t(`numbering.${name}`)])].map(([value, text]) =>
    html("option", { value, selected: value === chosen }, text),
  );
