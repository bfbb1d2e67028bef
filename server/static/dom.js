/** Small helpers to build and find elements. */

const SVG = "http://www.w3.org/2000/svg";

export const find = (selector, root = document) => root.querySelector(selector);
export const findAll = (selector, root = document) => [...root.querySelectorAll(selector)];

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(
    ...children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false),
  );
  return element;
}

/** An HTML element: attributes, `onclick` and the like as listeners; children are elements, texts, or null. */
export const html = (name, attributes = {}, ...children) =>
  fill(document.createElement(name), attributes, children);

/** The same in SVG. */
export const svg = (name, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, name), attributes, children);

/** The text of what is chosen in a list, for a screen too narrow for the list to show it; a reader has the list. */
export const wholeChoice = text => html("p", { class: "whole-choice faint", "aria-hidden": "true" }, text);

/** Put other children into an element, leaving out null. */
export function replace(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter(child => child !== null && child !== undefined));
}

/** Set a text, and hide the element if there is none. */
export function showText(element, text) {
  element.textContent = text ?? "";
  element.hidden = !text;
}

const NAMED = ["ply", "move", "material", "pieces", "longest"];

/** How to find an element again after its surroundings are drawn anew: by its id, or by what it stands for. */
function selectorOf(element) {
  if (element.id) return `#${element.id}`;
  const name = NAMED.find(each => each in element.dataset);
  return name ? `[data-${name}="${element.dataset[name]}"]` : null;
}

/**
 * Draw a part of the page anew. What had the keyboard there has it again; where it is gone, the first of its kind, by
 * its first class.
 */
export function redraw(root, draw) {
  const active = root.contains(document.activeElement) ? document.activeElement : null;
  draw();
  if (!active || active.isConnected) return;
  const same = selectorOf(active);
  const alike = active.classList.item(0);
  const next = (same && find(same, root)) ?? (alike && find(`.${alike}`, root));
  next?.focus({ preventScroll: true });
}
