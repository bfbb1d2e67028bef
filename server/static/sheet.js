/** The moves that were made, numbered as on a score sheet, each perhaps a button that leads to the position after it. */

import { html, replace } from "./dom.js";

/**
 * Draw a score sheet.
 *
 * `moves` are `{text, mark}`, the first one of `turn`; `current` is how many of them are made on the board;
 * `go(count)` is called for one that is chosen; null: none can be. What comes after `faintAfter` is shown fainter.
 */
export function showSheet(element, moves, turn, current, go, faintAfter = Infinity) {
  const begins = turn === "black" ? 1 : 0;
  const items = moves.flatMap(({ text, mark }, index) => {
    const ply = index + begins, made = index + 1 === current;
    const label = ply % 2 === 0 ? `${ply / 2 + 1}.` : index === 0 ? `${(ply + 1) / 2}…` : null;
    const looks = ["sheet-move", mark && "sheet-mistake", index >= faintAfter && "sheet-ahead"].filter(Boolean).join(" ");
    const told = { class: looks, "data-ply": index + 1, "aria-current": made ? "true" : null };
    const move = go ? html("button", { type: "button", onclick: () => go(index + 1), ...told }, text + (mark ?? ""))
      : html("span", told, text + (mark ?? ""));
    return label ? html("span", { class: "sheet-pair" }, html("span", { class: "sheet-number" }, label), move) : move;
  });
  replace(element, items);
  const now = element.querySelector("[aria-current]");
  // Scrolls the sheet, never the page.
  if (now) element.scrollTop = Math.max(0, now.offsetTop - element.clientHeight / 2);
}
