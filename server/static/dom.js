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
  element.append(...children.flat(Infinity).filter(child => child !== null && child !== undefined && child !== false));
  return element;
}

/** An HTML element: attributes, `onclick` and the like as listeners; children are elements, texts, or null. */
export const html = (name, attributes = {}, ...children) =>
  fill(document.createElement(name), attributes, children);

/** The same in SVG. */
export const svg = (name, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, name), attributes, children);

/** Put other children into an element, leaving out null. */
export function replace(element, ...children) {
  element.replaceChildren(...children.flat(Infinity).filter(child => child !== null && child !== undefined));
}

/** Set a text, and hide the element if there is none. */
export function say(element, text) {
  element.textContent = text ?? "";
  element.hidden = !text;
}
