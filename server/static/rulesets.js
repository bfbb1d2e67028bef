/** The rulesets: their names, and the list to choose from. */

import { askRulesets } from "./api.js";
import { html, replace } from "./dom.js";
import { has, t } from "./i18n.js";

export const OFFICIAL = "official";
let names = null;

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
  fill(names ?? [...new Set([chosen, OFFICIAL])]);
  if (names) return;
  try {
    names = (await askRulesets()).rulesets.map(({ name }) => name);
    fill(names);
  } catch {
    // A server that does not answer is told where the position is asked for.
  }
}
