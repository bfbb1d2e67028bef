/**
 * The clocks of the draw rules: how far each rule has counted.
 *
 * @import { DrawCase, PositionReport, RuleState } from "./api.js"
 */

import { html, replace } from "./dom.js";
import { has, t } from "./i18n.js";
import { ruleName } from "./verdict.js";

/**
 * Draw the clocks of an answer and of its draw cases.
 *
 * @param {HTMLElement} element
 * @param {PositionReport} answer
 * @param {DrawCase[]} cases
 */
export function showClocks(element, answer, cases) {
  const rows = answer.rules
    .filter(rule => rule.applies)
    .map(rule =>
      clock(
        rule,
        cases.find(each => each.rule === rule.rule && each.applies),
        answer.ruleset,
      ),
    );
  replace(element, rows.length ? rows : html("p", { class: "faint" }, t("clocks.none")));
}

/**
 * @param {RuleState} rule
 * @param {DrawCase | undefined} drawCase
 * @param {string} ruleset
 */
function clock(rule, drawCase, ruleset) {
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
    need(rule, drawCase),
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
 * @param {RuleState} rule
 * @param {DrawCase | undefined} drawCase
 */
function need({ rule, fired }, drawCase) {
  const key = `clocks.need.${rule}`;
  if (fired || !drawCase || drawCase.moves_needed === null || !has(key)) return null;
  const enough = drawCase.within_limit ? "clocks.enough" : "clocks.notEnough";
  const needed = t(key, { n: drawCase.moves_needed });
  const text = drawCase.within_limit === null ? needed : t(enough, { needed });
  return html("span", { class: "clock-need faint" }, text);
}
