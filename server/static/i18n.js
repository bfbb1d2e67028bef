/**
 * The language of the page and its messages.
 *
 * @typedef {{ [key: string]: string | Messages }} Messages
 * @typedef {{ n?: number, [name: string]: string | number | undefined }} Values
 */

import { findAll } from "./dom.js";
import en from "./lang/en.js";
import lv from "./lang/lv.js";
import ru from "./lang/ru.js";

/** @type {Record<string, Messages>} */
const LANGUAGES = { en, ru, lv };

const STORED = "language";
/** @type {(() => void)[]} */
const listeners = [];

let language = stored() ?? preferred();
let plurals = new Intl.PluralRules(language);

function stored() {
  const name = recall(STORED);
  return name !== null && name in LANGUAGES ? name : null;
}

/** The first language of the browser that the page has, or English. */
function preferred() {
  const wanted = (navigator.languages ?? [navigator.language]).map(name => name.slice(0, 2).toLowerCase());
  return wanted.find(name => name in LANGUAGES) ?? "en";
}

export const currentLanguage = () => language;

/**
 * Change the language, and remember it.
 *
 * @param {string} name
 */
export function setLanguage(name) {
  remember(STORED, name);
  language = name;
  plurals = new Intl.PluralRules(name);
  translatePage();
  for (const listener of listeners) listener();
}

/**
 * Call a function whenever the language changes.
 *
 * @param {() => void} listener
 */
export const onLanguage = listener => listeners.push(listener);

/** @param {string} key */
function lookUp(key) {
  /** @type {Messages | string | undefined} */
  let found = LANGUAGES[language];
  for (const part of key.split(".")) found = typeof found === "object" ? found[part] : undefined;
  return found;
}

/**
 * A message: `t("winsIn.white", { n: 13 })`.
 *
 * A message may have plural forms (`one`, `few`, `many`, `other`, as the language has them): the number `n`
 * chooses one. `{name}` in a message is replaced by the value of that name.
 *
 * @param {string} key
 * @param {Values} values
 * @returns {string}
 */
export function t(key, values = {}) {
  const found = lookUp(key);
  if (found === undefined) throw new Error(`${language} has no message ${key}`);
  const text = typeof found === "string" ? found : (found[plurals.select(values.n ?? NaN)] ?? found.other);
  return /** @type {string} */ (text).replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    return typeof value === "number" ? number(value) : String(value);
  });
}

/**
 * Whether a message exists.
 *
 * @param {string} key
 */
export const has = key => lookUp(key) !== undefined;

/**
 * A number as the language writes it.
 *
 * @param {number} value
 */
export const number = value => value.toLocaleString(language, { useGrouping: value >= 10000 });

/** The smallest share that is written in figures. */
const LEAST_SHARE = 0.00001;

/**
 * A share from 0 to 1 as a percentage. Only 0 is written as 0 %, and only 1 as 100 %.
 *
 * @param {number} share
 * @returns {string}
 */
export function percent(share) {
  if (share > 0 && share < LEAST_SHARE) return `<${percent(LEAST_SHARE)}`;
  if (share < 1 && share > 1 - LEAST_SHARE) return `>${percent(1 - LEAST_SHARE)}`;
  const digits = (share > 0 && share < 0.001) || (share < 1 && share > 0.999) ? 3 : 1;
  return share.toLocaleString(language, { style: "percent", maximumFractionDigits: digits });
}

/**
 * Join texts to a list.
 *
 * @param {string[]} texts
 */
export const list = texts => new Intl.ListFormat(language, { type: "conjunction" }).format(texts);

/**
 * Write the messages into the elements that name them: `data-t` is the text, `data-t-label` and so on
 * attributes.
 */
export function translatePage() {
  document.documentElement.lang = language;
  document.title = t("title");
  for (const element of findAll("[data-t]")) element.textContent = t(element.dataset.t ?? "");
  for (const element of findAll("[data-t-label]"))
    element.setAttribute("aria-label", t(element.dataset.tLabel ?? ""));
  for (const element of findAll("[data-t-title]")) element.title = t(element.dataset.tTitle ?? "");
}

/**
 * A stored choice, or null if the browser forbids storage.
 *
 * @param {string} name
 */
function recall(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

/**
 * @param {string} name
 * @param {string} value
 */
function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // The choice holds for this visit.
  }
}
