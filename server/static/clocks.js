/**
 * The clocks of the draw rules: how far each rule has counted.
 *
 * @import { PositionReport, PositionRule } from "./api.js"
 */

import { html, replace } from "./dom.js";
import { has, t } from "./i18n.js";
import { ruleName } from "./verdict.js";

/**
 * Draw the clocks of an answer.
 *
 * @param {HTMLElement} element
 * @param {PositionReport} answer
 */
export function showClocks(element, answer) {
  const rows = answer.rules.filter(rule => rule.applies).map(rule => clock(rule, answer.ruleset));
  replace(element, rows.length ? rows : html("p", { class: "faint" }, t("clocks.none")));
}

/**
 * @param {PositionRule} rule
 * @param {string} ruleset
 */
function clock(rule, ruleset) {
  const { count, limit, fired, unit, stronger } = rule;
  const what = unit === "own-moves" && stronger ? `${unit}-${stronger}` : unit;
  const text = t(`clocks.unit.${what}`, { count, limit, n: limit });
  // The first occurrence of a position is no repetition.
  const first = unit === "times" ? 1 : 0;
  const share = Math.min(1, Math.max(0, count - first) / (limit - first));
  const state = fired ? "fired" : share >= 0.7 ? "near" : "open";
  const label = fired ? t(rule.claim === "automatic" ? "clocks.fired" : "clocks.claimable") : null;
  return html(
    "div",
    { class: `clock clock-${state}`, "data-rule": rule.rule },
    html("span", { class: "clock-name" }, ruleName(rule, ruleset)),
    html("span", { class: "clock-count number" }, text, label ? [" · ", html("strong", {}, label)] : null),
    bar(share),
    need(rule),
  );
}

/** @param {number} share */
function bar(share) {
  const filled = html("span", { class: "clock-filled" });
  filled.style.width = `${100 * share}%`;
  return html("span", { class: "clock-bar", "aria-hidden": "true" }, filled);
}

/**
 * How many moves the stronger side needs, and whether the rule leaves as many.
 *
 * @param {PositionRule} rule
 */
function need({ rule, fired, moves_needed: n, within_limit: within }) {
  const key = `clocks.need.${rule}`;
  if (fired || n === null || !has(key)) return null;
  const enough = within ? "clocks.enough" : "clocks.notEnough";
  const needed = t(key, { n });
  const text = within === null ? needed : t(enough, { needed });
  return html("span", { class: "clock-need faint" }, text);
}
