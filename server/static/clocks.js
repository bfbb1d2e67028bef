/** The clocks of the draw rules: how far each has come, as the server counts them. */

import { html, replace } from "./dom.js";
import { has, t } from "./i18n.js";
import { ruleName } from "./verdict.js";

/** Draw the clocks of an answer and of its draw cases. */
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

function clock(rule, drawCase, ruleset) {
  const { count, limit, fired, unit, stronger } = rule;
  const what = unit === "own-moves" && stronger ? `${unit}-${stronger}` : unit;
  const text = t(`clocks.unit.${what}`, { count, limit, n: limit });
  // The first time a position comes up is none of its repetitions.
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

function bar(share) {
  const filled = html("span", { class: "clock-filled" });
  filled.style.width = `${100 * share}%`;
  return html("span", { class: "clock-bar", "aria-hidden": "true" }, filled);
}

/** What the stronger side still needs of what a rule leaves, as the draw cases know it. */
function need({ rule, fired }, drawCase) {
  const key = `clocks.need.${rule}`;
  if (fired || !drawCase || drawCase.moves_needed === null || !has(key)) return null;
  const enough = drawCase.within_limit ? "clocks.enough" : "clocks.notEnough";
  const needed = t(key, { n: drawCase.moves_needed });
  const text = drawCase.within_limit === null ? needed : t(enough, { needed });
  return html("span", { class: "clock-need faint" }, text);
}
