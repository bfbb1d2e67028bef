/** Statistics: what each material is worth, the longest wins, and how long wins take. */

import { askMaterial, askMaterials, isDropped, Latest } from "../api.js";
import { pieceIcon } from "../board/board.js";
import { histogram, OUTCOMES, outcomeBar } from "../charts.js";
import { find, html, redraw, replace, wholeChoice } from "../dom.js";
import { number, percent, t } from "../i18n.js";
import { inMoves } from "../moves.js";
import { OFFICIAL, rulesetName } from "../verdict.js";

const SHOWN_PIECES = 4;

export class StatisticsView {
  name = "statistics";
  #material = null;
  #all = null;
  #pieces = null;
  #detail = null;
  #histogram = "dtw_win";
  #logarithmic = false;
  #latest = new Latest();
  #details = new Latest();

  constructor({ session, problem, go, rewrite }) {
    Object.assign(this, { session, problem, go, rewrite });
    this.element = find("#statistics-content");
  }

  kept() {
    return { material: this.#material, pieces: this.#pieces };
  }

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

  /** Tell of a material, beside the list of those with as many pieces as it has, or with another number of them. */
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

  #list(pieces) {
    this.#pieces = pieces;
    this.rewrite();
    this.render();
  }

  render() {
    redraw(this.element, () => this.#draw());
  }

  #draw() {
    if (!this.#all) return replace(this.element, html("p", { class: "faint" }, t("statistics.loading")));
    const materials = this.#all.materials;
    if (!materials.length) return replace(this.element, html("p", {}, t("statistics.none")));
    const numbers = [...new Set(materials.map(({ pieces }) => pieces))];
    if (!numbers.includes(this.#pieces)) this.#pieces = Math.min(SHOWN_PIECES, numbers.at(-1));
    replace(
      this.element,
      this.#overview(materials, numbers),
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
          this.#detail ? this.#about(this.#detail) : html("p", { class: "faint" }, t("statistics.choose")),
        ),
      ),
    );
  }

  #overview(materials, numbers) {
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
          ruleset: this.#all.ruleset ? rulesetName(this.#all.ruleset) : "–",
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

  #about(detail) {
    return [
      html("h2", {}, icons(detail.material), ` ${detail.material}`),
      html(
        "p",
        { class: "faint" },
        t("statistics.outcomesOf", { positions: t("statistics.ofPositions", { n: detail.positions ?? 0 }) }),
      ),
      this.#counts(detail),
      this.#longest(detail),
      this.#histograms(detail),
      this.#leads(detail),
    ];
  }

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

  #longest({ longest }) {
    const found = Object.entries(longest).filter(([, each]) => each?.fen);
    if (!found.length) return null;
    return [
      html("h3", {}, t("statistics.longestTitle")),
      html(
        "ul",
        { class: "links", id: "longest" },
        found.map(([name, { plies, fen }]) =>
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

  #show(fen) {
    this.go("analysis", { quiet: true });
    this.session.load({ fen });
  }

  #histograms({ histograms }) {
    const known = Object.entries(histograms).filter(([, counts]) => counts?.length);
    if (!known.length) return Object.values(histograms).some(Boolean) ? null : this.#uncounted();
    const [name, counts] = known.find(([each]) => each === this.#histogram) ?? known[0];
    const select = html(
      "select",
      {
        id: "histogram-choice",
        onchange: event => {
          this.#histogram = event.target.value;
          this.render();
        },
      },
      known.map(([each]) =>
        html("option", { value: each, selected: each === name }, t(`statistics.histogram.${each}`)),
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

  /** Tables of an earlier version: how to come by what they do not have. */
  #uncounted() {
    return [
      html("h3", {}, t("statistics.distances")),
      html(
        "p",
        { class: "faint", id: "uncounted" },
        t("statistics.uncounted"),
        " ",
        html("code", {}, generateCommand(this.#all)),
      ),
    ];
  }

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

/** On a phone the material may have been chosen far below what is told of it. */
function showDetail() {
  const detail = find("#material-detail");
  const { top, bottom } = detail.getBoundingClientRect();
  if (bottom < 0 || top > innerHeight) detail.scrollIntoView({ block: "start" });
}

/** The pieces of a material as small pictures, the side to move first and white. */
function icons(name) {
  const [own, other] = name.split("v");
  const side = (letters, color) =>
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

/** The command for what the server says of its materials: the same ones, of the same kind. */
export function generateCommand({ pieces, ruleset, materials }) {
  const metrics = new Set(materials.flatMap(each => each.metrics));
  // Single materials come with all that they lead to, their mirrors too.
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
