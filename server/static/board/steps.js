/** Legal moves as steps: which squares come next, and which move is meant. No drawing here. */

/** The moves that begin with these squares. */
export const beginning = (moves, squares) =>
  moves.filter(({ path }) => squares.every((square, index) => path[index] === square));

/** The squares that come next after these. */
export const nextSquares = (moves, squares) =>
  [...new Set(beginning(moves, squares).map(({ path }) => path[squares.length]).filter(Boolean))];

/**
 * Choose a square after those chosen so far.
 *
 * It may be the next one of a path, or where just one move ends. Returns `{move}` where that leaves one move,
 * `{squares}` where there is more to choose, null where the square fits none.
 */
export function choose(moves, squares, square) {
  const longer = beginning(moves, [...squares, square]);
  if (longer.length === 1) return { move: longer[0] };
  if (longer.length > 1) return { squares: [...squares, square] };
  const ending = squares.length ? beginning(moves, squares).filter(({ path }) => path.at(-1) === square) : [];
  return ending.length === 1 ? { move: ending[0] } : null;
}
