/**
 * Helpers that find and build elements.
 *
 * @typedef {string | number | boolean | null | undefined | ((event: any) => unknown)} AttributeValue
 * @typedef {Record<string, AttributeValue>} Attributes
 * @typedef {readonly Child[]} ChildArray
 * @typedef {Node | string | false | null | undefined | ChildArray} Child
 */

const SVG = "http://www.w3.org/2000/svg";

/**
 * The first element that a selector matches. Throw an error if there is none.
 *
 * @template {Element} [T=HTMLElement]
 * @param {string} selector
 * @param {ParentNode} root
 * @returns {T}
 */
export function find(selector, root = document) {
  const found = /** @type {T | null} */ (root.querySelector(selector));
  if (!found) throw new Error(`the page has no element ${selector}`);
  return found;
}

/**
 * All elements that a selector matches.
 *
 * @template {Element} [T=HTMLElement]
 * @param {string} selector
 * @returns {T[]}
 */
export const findAll = selector => /** @type {T[]} */ ([...document.querySelectorAll(selector)]);

/** @param {unknown[]} children of type `Child`, whose depth TypeScript cannot follow */
const shownChildren = children =>
  /** @type {(Node | string)[]} */ (
    children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false)
  );

/**
 * @template {Element} T
 * @param {T} element
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined)
      element.setAttribute(name, String(value));
  }
  element.append(...shownChildren(children));
  return element;
}

/**
 * Build an HTML element. Attributes like `onclick` become listeners; `null` and `false` leave an attribute or
 * a child out.
 *
 * @template {keyof HTMLElementTagNameMap} K
 * @param {K} name
 * @param {Attributes} attributes
 * @param {...Child} children
 */
export const html = (name, attributes = {}, ...children) =>
  fill(document.createElement(name), attributes, children);

/**
 * Build an SVG element, as `html` does.
 *
 * @template {keyof SVGElementTagNameMap} K
 * @param {K} name
 * @param {Attributes} attributes
 * @param {...Child} children
 */
export const svg = (name, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, name), attributes, children);

/**
 * The chosen text of a list, in full, for screens too narrow for the list. Screen readers read the list
 * itself.
 *
 * @param {string} text
 */
export const wholeChoice = text => html("p", { class: "whole-choice faint", "aria-hidden": "true" }, text);

/**
 * A card with a heading.
 *
 * @param {string} title
 * @param {...Child} children
 */
export const card = (title, ...children) =>
  html("div", { class: "card" }, html("h3", {}, title), ...children);

/**
 * Replace the children of an element.
 *
 * @param {Element} element
 * @param {...Child} children
 */
export function replace(element, ...children) {
  element.replaceChildren(...shownChildren(children));
}

/**
 * Set the text of an element, and hide the element if there is no text.
 *
 * @param {HTMLElement} element
 * @param {string | null} text
 */
export function showText(element, text) {
  element.textContent = text ?? "";
  element.hidden = !text;
}

const NAMED = ["ply", "move", "material", "pieces", "longest"];

/**
 * A selector that finds an element again after a redraw: its id, or the data attribute that names it.
 *
 * @param {HTMLElement} element
 */
function selectorOf(element) {
  if (element.id) return `#${element.id}`;
  const name = NAMED.find(each => each in element.dataset);
  return name ? `[data-${name}="${element.dataset[name]}"]` : null;
}

/**
 * Draw a part of the page anew and keep the focus. If the focused element is gone, focus the first element
 * that has the same first class.
 *
 * @param {HTMLElement} root
 * @param {() => void} draw
 */
export function redraw(root, draw) {
  const focused = document.activeElement;
  const active = focused instanceof HTMLElement && root.contains(focused) ? focused : null;
  draw();
  if (!active || active.isConnected) return;
  const same = selectorOf(active);
  const alike = active.classList.item(0);
  /** @type {HTMLElement | null} */
  const next = (same && root.querySelector(same)) || (alike && root.querySelector(`.${alike}`)) || null;
  next?.focus({ preventScroll: true });
}
