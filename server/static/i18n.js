/** Languages: which one, and its messages. */

import { findAll } from "./dom.js";
import en from "./lang/en.js";
import lv from "./lang/lv.js";
import ru from "./lang/ru.js";

const LANGUAGES = { en, ru, lv };

const STORED = "language";
const listeners = [];

let language = stored() ?? preferred();
let plurals = new Intl.PluralRules(language);

function stored() {
  const name = recall(STORED);
  return name in LANGUAGES ? name : null;
}

/** The first of the browser's languages that there is; English if there is none. */
function preferred() {
  const wanted = (navigator.languages ?? [navigator.language]).map(name => name.slice(0, 2).toLowerCase());
  return wanted.find(name => name in LANGUAGES) ?? "en";
}

export const currentLanguage = () => language;

/** Speak another language, and remember it. */
export function setLanguage(name) {
  remember(STORED, name);
  language = name;
  plurals = new Intl.PluralRules(name);
  translatePage();
  for (const listener of listeners) listener();
}

/** Have a function called whenever the language has changed. */
export const onLanguage = listener => listeners.push(listener);

/**
 * A message: `t("winsIn.white", { n: 13 })`. A message with forms (`one`, `few`, `many`, `other`, as the language
 * has them) takes the one for the number `n`; `{name}` in a message is replaced by the value of that name.
 */
export function t(key, values = {}) {
  const found = key.split(".").reduce((messages, part) => messages?.[part], LANGUAGES[language]);
  if (found === undefined) throw new Error(`${language} has no message ${key}`);
  const text = typeof found === "string" ? found : (found[plurals.select(values.n)] ?? found.other);
  return text.replace(/\{(\w+)\}/g, (_, name) => {
    const value = values[name];
    return typeof value === "number" ? number(value) : value;
  });
}

/** Whether there is such a message. */
export const has = key =>
  key.split(".").reduce((messages, part) => messages?.[part], LANGUAGES[language]) !== undefined;

/** A number as the language writes it. */
export const number = value => value.toLocaleString(language, { useGrouping: value >= 10000 });

/** The least share that is written in figures. */
const LEAST_SHARE = 0.00001;

/** A share from 0 to 1 as a percentage; one that is not nothing, and not all, is not rounded to that. */
export function percent(share) {
  if (share > 0 && share < LEAST_SHARE) return `<${percent(LEAST_SHARE)}`;
  if (share < 1 && share > 1 - LEAST_SHARE) return `>${percent(1 - LEAST_SHARE)}`;
  const digits = (share > 0 && share < 0.001) || (share < 1 && share > 0.999) ? 3 : 1;
  return share.toLocaleString(language, { style: "percent", maximumFractionDigits: digits });
}

/** Several texts as one list. */
export const list = texts => new Intl.ListFormat(language, { type: "conjunction" }).format(texts);

/** Put the messages into the elements that name them: `data-t` the text, `data-t-label` and so on attributes. */
export function translatePage() {
  document.documentElement.lang = language;
  document.title = t("title");
  for (const element of findAll("[data-t]")) element.textContent = t(element.dataset.t);
  for (const element of findAll("[data-t-label]"))
    element.setAttribute("aria-label", t(element.dataset.tLabel));
  for (const element of findAll("[data-t-title]")) element.title = t(element.dataset.tTitle);
  for (const element of findAll("[data-t-placeholder]"))
    element.placeholder = t(element.dataset.tPlaceholder);
}

function recall(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function remember(name, value) {
  try {
    localStorage.setItem(name, value);
  } catch {
    // The choice holds for this visit.
  }
}
