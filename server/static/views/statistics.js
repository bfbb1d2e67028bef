/**
 * Statistics: the outcomes of each material, the longest wins, and the distances of wins.
 *
 * @import { MaterialDetails, MaterialReport, MaterialsReport } from "../api.js"
 * @import { Shared, ShowProblem, View } from "../main.js"
 * @import { Side } from "../position.js"
 * @import { Session } from "../session.js"
 */

import { askMaterial, askMaterials, isDropped, Latest } from "../api.js";
import { pieceIcon } from "../board/pieces.js";
import { histogram, OUTCOMES, outcomeBar } from "../charts.js";
import { find, html, redraw, replace, wholeChoice } from "../dom.js";
import { number, percent, t } from "../i18n.js";
import { inMoves } from "../moves.js";
import { OFFICIAL, rulesetName } from "../verdict.js";

const SHOWN_PIECES = 4;

/** @implements {View} */
export class StatisticsView {
  name = "statistics";
  /** @type {Session} */
  session;
  /** @type {ShowProblem} */
  problem;
  /** @type {Shared["go"]} */
  go;
  /** @type {() => void} */
  rewrite;
  element = find("#statistics-content");
  /** @type {string | null} */
  #material = null;
  /** @type {MaterialsReport | null} */
  #all = null;
  /** @type {number | null} */
  #pieces = null;
  /** @type {MaterialDetails | null} */
  #detail = null;
  #histogram = "dtw_win";
  #logarithmic = false;
  #latest = new Latest();
  #details = new Latest();

  /** @param {Shared} shared */
  constructor({ session, problem, go, rewrite }) {
    this.session = session;
    this.problem = problem;
    this.go = go;
    this.rewrite = rewrite;
  }

  kept() {
    return { material: this.#material, pieces: this.#pieces };
  }

  /** @param {{ material: string | null, pieces: string | null }} address */
  read({ material, pieces }) {
    this.#material = material;
    this.#pieces = Number(pieces) || null;
  }

  async enter() {
    this.render();
    try {
      this.#all ??= await askMaterials(this.#latest.begin());
      this.render();
      if (this.#material) await this.#open(this.#material, this.#pieces);
    } catch (error) {
      if (!isDropped(error)) this.problem(error, () => this.enter());
    }
  }

  leave() {
    this.#latest.drop();
    this.#details.drop();
    this.#material = null;
    this.#detail = null;
  }

  changed() {}

  answered() {}

  /**
   * Show the details of a material, beside the list of materials.
   *
   * @param {string} name
   * @param {number | null} pieces how many pieces the materials of the list have; null for as many as this
   *   one
   */
  async #open(name, pieces = null) {
    this.#material = name;
    this.#list(pieces ?? name.length - 1);
    try {
      this.#detail = await askMaterial(name, this.#details.begin());
      this.problem(null);
      this.render();
      showDetail();
    } catch (error) {
      if (!isDropped(error)) this.problem(error, () => this.#open(name, pieces));
    }
  }

  /** @param {number} pieces */
  #list(pieces) {
    this.#pieces = pieces;
    this.rewrite();
    this.render();
  }

  render() {
    redraw(this.element, () => this.#draw());
  }

  #draw() {
    if (!this.#all) {
      replace(this.element, html("p", { class: "faint" }, t("statistics.loading")));
      return;
    }
    const { materials } = this.#all;
    if (!materials.length) {
      replace(this.element, html("p", {}, t("statistics.none")));
      return;
    }
    const numbers = [...new Set(materials.map(({ pieces }) => pieces))];
    if (this.#pieces === null || !numbers.includes(this.#pieces))
      this.#pieces = Math.min(SHOWN_PIECES, numbers[numbers.length - 1]);
    replace(
      this.element,
      this.#overview(this.#all, numbers),
      html(
        "div",
        { class: "statistics" },
        html(
          "div",
          { class: "card" },
          this.#table(materials.filter(({ pieces }) => pieces === this.#pieces)),
        ),
        html(
          "div",
          { class: "card", id: "material-detail" },
          this.#detail
            ? this.#about(this.#detail, this.#all)
            : html("p", { class: "faint" }, t("statistics.choose")),
        ),
      ),
    );
  }

  /**
   * @param {MaterialsReport} all
   * @param {number[]} numbers the numbers of pieces
   */
  #overview({ materials, ruleset }, numbers) {
    const positions = materials.reduce((sum, each) => sum + (each.positions ?? 0), 0);
    return html(
      "div",
      { class: "card" },
      html("h2", {}, t("statistics.title")),
      html(
        "p",
        { class: "faint" },
        t("statistics.about", {
          positions: t("statistics.ofPositions", { n: positions }),
          kinds: t("statistics.ofKinds", { n: materials.length }),
          ruleset: ruleset ? rulesetName(ruleset) : "–",
        }),
      ),
      html(
        "div",
        { class: "buttons", role: "group", "aria-label": t("statistics.pieces") },
        numbers.map(pieces =>
          html(
            "button",
            {
              type: "button",
              "data-pieces": pieces,
              "aria-pressed": String(pieces === this.#pieces),
              onclick: () => this.#list(pieces),
            },
            t("statistics.ofPieces", { n: pieces }),
          ),
        ),
      ),
      html(
        "p",
        { class: "bar-legend faint" },
        OUTCOMES.map(([, outcome]) =>
          html("span", {}, html("i", { class: `bar-${outcome}` }), t(`outcome.${outcome}`)),
        ),
      ),
    );
  }

  /** @param {MaterialReport[]} materials */
  #table(materials) {
    const head = ["material", "outcomes", "longest"].map(name =>
      html("th", { scope: "col" }, t(`statistics.${name}`)),
    );
    return html(
      "table",
      { class: "materials" },
      html("caption", { class: "unseen" }, t("statistics.title")),
      html("thead", {}, html("tr", {}, head)),
      html(
        "tbody",
        {},
        materials.map(material =>
          html(
            "tr",
            { "aria-current": material.material === this.#material || null },
            html(
              "th",
              { scope: "row" },
              html(
                "button",
                {
                  type: "button",
                  class: "material-button",
                  "data-material": material.material,
                  onclick: () => this.#open(material.material),
                },
                icons(material.material),
                html("span", { class: "material-name" }, material.material),
              ),
            ),
            html("td", {}, outcomeBar(material) ?? "–"),
            html(
              "td",
              { class: "number" },
              material.longest_win_plies === null
                ? "–"
                : t("moves.count", { n: inMoves(material.longest_win_plies) }),
            ),
          ),
        ),
      ),
    );
  }

  /**
   * @param {MaterialDetails} detail
   * @param {MaterialsReport} all
   */
  #about(detail, all) {
    return [
      html("h2", {}, icons(detail.material), ` ${detail.material}`),
      html(
        "p",
        { class: "faint" },
        t("statistics.outcomesOf", { positions: t("statistics.ofPositions", { n: detail.positions ?? 0 }) }),
      ),
      this.#counts(detail),
      this.#longest(detail),
      this.#histograms(detail, all),
      this.#leads(detail),
    ];
  }

  /** @param {MaterialDetails} detail */
  #counts(detail) {
    if (detail.win === null) return null;
    const rows = OUTCOMES.map(([field, outcome]) =>
      html(
        "tr",
        {},
        html("th", { scope: "row", class: outcome }, t(`outcome.${outcome}`)),
        html("td", { class: "number" }, number(detail[field] ?? 0)),
        html(
          "td",
          { class: "number" },
          detail.positions ? percent((detail[field] ?? 0) / detail.positions) : "–",
        ),
      ),
    );
    return [outcomeBar(detail), html("table", { class: "counts" }, html("tbody", {}, rows))];
  }

  /** @param {MaterialDetails} detail */
  #longest({ longest }) {
    const found = Object.entries(longest).flatMap(([name, each]) => (each?.fen ? { name, ...each } : []));
    if (!found.length) return null;
    return [
      html("h3", {}, t("statistics.longestTitle")),
      html(
        "ul",
        { class: "links", id: "longest" },
        found.map(({ name, plies, fen }) =>
          html(
            "li",
            {},
            html(
              "button",
              { type: "button", class: "link-button", "data-longest": name, onclick: () => this.#show(fen) },
              t(`statistics.longestOf.${name}`, { n: inMoves(plies), plies }),
            ),
          ),
        ),
      ),
    ];
  }

  /** @param {string} fen */
  #show(fen) {
    this.go("analysis", { quiet: true });
    this.session.load({ fen });
  }

  /**
   * @param {MaterialDetails} detail
   * @param {MaterialsReport} all
   */
  #histograms({ histograms }, all) {
    const counted = Object.entries(histograms).flatMap(([name, counts]) =>
      counts?.length ? { name, counts } : [],
    );
    if (!counted.length) return Object.values(histograms).some(Boolean) ? null : uncounted(all);
    const { name, counts } = counted.find(each => each.name === this.#histogram) ?? counted[0];
    const select = html(
      "select",
      {
        id: "histogram-choice",
        onchange: event => {
          this.#histogram = event.target.value;
          this.render();
        },
      },
      counted.map(each =>
        html(
          "option",
          { value: each.name, selected: each.name === name },
          t(`statistics.histogram.${each.name}`),
        ),
      ),
    );
    const logarithmic = html("input", {
      type: "checkbox",
      id: "logarithmic",
      checked: this.#logarithmic,
      onchange: event => {
        this.#logarithmic = event.target.checked;
        this.render();
      },
    });
    return [
      html(
        "div",
        { class: "card-head" },
        html("label", { class: "inline" }, html("span", {}, t("statistics.distances")), select),
        html("label", { class: "inline" }, logarithmic, html("span", {}, t("statistics.logarithmic"))),
      ),
      wholeChoice(t(`statistics.histogram.${name}`)),
      histogram(counts, { title: t(`statistics.histogram.${name}`), logarithmic: this.#logarithmic }),
    ];
  }

  /** @param {MaterialDetails} detail */
  #leads({ depends_on: names }) {
    if (!names.length) return null;
    return [
      html("h3", {}, t("statistics.leads")),
      html(
        "p",
        { class: "buttons" },
        names.map(name =>
          html("button", { type: "button", class: "link-button", onclick: () => this.#open(name) }, name),
        ),
      ),
    ];
  }
}

/**
 * How to make what tables of an earlier version lack.
 *
 * @param {MaterialsReport} all
 */
const uncounted = all => [
  html("h3", {}, t("statistics.distances")),
  html(
    "p",
    { class: "faint", id: "uncounted" },
    t("statistics.uncounted"),
    " ",
    html("code", {}, generateCommand(all)),
  ),
];

/** Scroll to the details of a material. On a phone they may be far from the list. */
function showDetail() {
  const detail = find("#material-detail");
  const { top, bottom } = detail.getBoundingClientRect();
  if (bottom < 0 || top > innerHeight) detail.scrollIntoView({ block: "start" });
}

/**
 * The pieces of a material as small pictures: the side to move first, in white.
 *
 * @param {string} name
 */
function icons(name) {
  const [own, other] = name.split("v");
  const side = (/** @type {string} */ letters, /** @type {Side} */ color) =>
    [...letters].map(letter => pieceIcon({ side: color, king: letter === "K" }));
  return html(
    "span",
    { class: "material-icons", "aria-hidden": "true" },
    side(own, "white"),
    html("i", {}, "·"),
    side(other, "black"),
  );
}

const WITHOUT_DTW = ["wdl", "dtc", "dtb"];

/**
 * The command that makes the tables of the server anew: the same materials, the same rules, the same metrics.
 *
 * @param {MaterialsReport} all
 */
export function generateCommand({ pieces, ruleset, materials }) {
  const metrics = new Set(materials.flatMap(each => each.metrics));
  // The command makes all successors of a single material too, and its mirror.
  const single = materials
    .filter(each => each.pieces > pieces)
    .map(each => [each.material, each.mirror])
    .filter(
      ([name, mirror], index, all) =>
        !all.slice(0, index).some(([earlier]) => earlier === mirror && mirror !== name),
    )
    .map(([name]) => name);
  return [
    "shashki generate --replace",
    single.length ? `--materials ${single.join(",")}` : `--pieces ${pieces}`,
    ruleset && ruleset !== OFFICIAL ? `--ruleset ${ruleset}` : null,
    metrics.has("dtw") ? null : `--metrics ${WITHOUT_DTW.filter(name => metrics.has(name)).join(",")}`,
  ]
    .filter(Boolean)
    .join(" ");
}
