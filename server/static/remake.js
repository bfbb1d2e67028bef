/** The command that makes the tables of this server anew, for whoever runs it. */

import { OFFICIAL } from "./rulesets.js";

const WITHOUT_DTW = ["wdl", "dtc", "dtb"];

/** The command for what the server says of its materials: the same ones, of the same kind. */
export function remakeCommand({ pieces, ruleset, materials }) {
  const metrics = new Set(materials.flatMap(each => each.metrics));
  // Single materials come with all that they lead to, their mirrors too.
  const single = materials.filter(each => each.pieces > pieces).map(each => [each.material, each.mirror])
    .filter(([name, mirror], index, all) => !all.slice(0, index).some(([earlier]) => earlier === mirror && mirror !== name))
    .map(([name]) => name);
  return ["shashki generate --replace",
    single.length ? `--materials ${single.join(",")}` : `--pieces ${pieces}`,
    ruleset && ruleset !== OFFICIAL ? `--ruleset ${ruleset}` : null,
    metrics.has("dtw") ? null : `--metrics ${WITHOUT_DTW.filter(name => metrics.has(name)).join(",")}`,
  ].filter(Boolean).join(" ");
}
