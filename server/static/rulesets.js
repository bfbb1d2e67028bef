/** The rulesets: their names, what they count, and the list to choose from. */

import { askRulesets } from "./api.js";
import { html, replace } from "./dom.js";
import { has, t } from "./i18n.js";

export const OFFICIAL = "official";
let rulesets = null;

/** Whether the rule on repetition of a ruleset counts repeated moves, and not positions; false until it is known. */
export const countsMoves = name => rulesets?.find(each => each.name === name)?.repeats === "moves";

/** A ruleset by its name for people. */
export const rulesetName = name => (has(`ruleset.${name}`) ? t(`ruleset.${name}`) : name);

/** Fill a `select` with the rulesets of the server; until it has answered, with the one in use. */
export async function fillRulesets(select, chosen) {
  const fill = options => {
    const value = select.value || chosen;
    replace(select, options.map(name => html("option", { value: name }, rulesetName(name))));
    // A name that an address has wrong leaves the choice open.
    select.value = value;
  };
  const names = () => rulesets.map(({ name }) => name);
  fill(rulesets ? names() : [...new Set([chosen, OFFICIAL])]);
  if (rulesets) return;
  try {
    rulesets = (await askRulesets()).rulesets;
    fill(names());
  } catch {
    // A server that does not answer is told where the position is asked for.
  }
}
