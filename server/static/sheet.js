/** The moves that were made, numbered as on a score sheet, each a button that leads to the position after it. */

import { html, replace } from "./dom.js";

/**
 * Draw a score sheet.
 *
 * `moves` are `{text, mark, title}`, the first one of `turn`; `current` is how many of them are made on the board;
 * `go(count)` is called for one that is chosen. What comes after `current` is shown fainter.
 */
export function showSheet(element, moves, turn, current, go, faintAfter = Infinity) {
  const begins = turn === "black" ? 1 : 0;
  const items = moves.flatMap(({ text, mark, title }, index) => {
    const ply = index + begins, made = index + 1 === current;
    const label = ply % 2 === 0 ? `${ply / 2 + 1}.` : index === 0 ? `${(ply + 1) / 2}…` : null;
    const button = html("button", {
      type: "button", class: `sheet-move ${mark ? "sheet-mistake" : ""} ${index >= faintAfter ? "sheet-ahead" : ""}`,
      "data-ply": index + 1, title: title ?? null, "aria-current": made ? "true" : null, onclick: () => go(index + 1),
    }, text + (mark ?? ""));
    return [label ? html("span", { class: "sheet-number" }, label) : null, button];
  });
  replace(element, items);
  const now = element.querySelector("[aria-current]");
  // Scrolls the sheet, never the page.
  if (now) element.scrollTop = Math.max(0, now.offsetTop - element.clientHeight / 2);
}
