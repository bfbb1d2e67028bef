/**
 * The page: connects board, session, address and views.
 *
 * @import { GameQuery } from "./api.js"
 * @import { PageState } from "./address.js"
 * @import { Moving } from "./board/moving.js"
 * @import { Change } from "./session.js"
 *
 * @typedef {(error: unknown, retry?: () => void) => void} ShowProblem
 *
 * @typedef {object} Shared What the page shares with its views.
 * @property {Board} board
 * @property {Session} session
 * @property {Player} player
 * @property {ShowProblem} problem
 * @property {(name: string, options?: { quiet?: boolean }) => void} go turns to a view
 * @property {(query: GameQuery) => string} addressFor
 * @property {() => void} rewrite writes the state into the address
 *
 * @typedef {object} View
 * @property {string} name
 * @property {Moving} [moving] the handler of the board, if the view has the board
 * @property {boolean} [judges] whether the view has the game judged, and so counted, by the server
 * @property {() => void} enter
 * @property {() => void} leave
 * @property {(how: Change) => void} changed called when the session has another position
 * @property {() => void} answered called when the server has answered for the session
 * @property {() => void} render
 * @property {() => PageState} [kept] the view's part of the address
 * @property {() => object | null} [memory] the view's data for the history of the browser
 * @property {(memory: any) => void} [recall] takes over such data
 * @property {(address: ReturnType<typeof readAddress>) => void} [read] takes over an address
 */

import { addressOf, readAddress, writeAddress } from "./address.js";
import { problemText, UnreachableError } from "./api.js";
import { Board } from "./board/board.js";
import { BoardPanel } from "./boardPanel.js";
import { find, findAll, html, replace } from "./dom.js";
import { currentLanguage, onLanguage, setLanguage, t, translatePage } from "./i18n.js";
import { Player } from "./player.js";
import { Session } from "./session.js";
import { fillRulesets } from "./verdict.js";
import { AnalysisView } from "./views/analysis.js";
import { GameView } from "./views/game.js";
import { PracticeView } from "./views/practice.js";
import { StatisticsView } from "./views/statistics.js";

const START = { fen: "W:WKa1,Ke1,c3:BKb8" };

/** @type {HTMLSelectElement} */
const languageChoice = find("#language");
/** @type {HTMLSelectElement} */
const rulesetChoice = find("#ruleset");

const session = new Session(START);
const player = new Player(session);
const board = new Board(find("#board"), find("#board-notice"));
const panel = new BoardPanel({ board, session, player, problem: showProblem });
/** @type {Shared} */
const shared = {
  board,
  session,
  player,
  problem: showProblem,
  go: showView,
  addressFor: query => addressOf({ query, ruleset: session.ruleset }),
  rewrite: () => save({ replace: true }),
};
/** @type {View[]} */
const views = [
  new AnalysisView(shared),
  new PracticeView(shared),
  new GameView(shared),
  new StatisticsView(shared),
];
/** @type {View | null} */
let view = null;

/** @type {{ error: unknown, retry?: () => void } | null} */
let problem = null;

/**
 * Show an error, with a button that tries again if the server did not answer; null clears it.
 *
 * @type {ShowProblem}
 */
function showProblem(error, retry = () => session.ask()) {
  problem = { error, retry };
  const place = find("#problem");
  find(view?.name === "statistics" ? "#statistics" : "#side").prepend(place);
  place.hidden = !error;
  replace(place, error ? problemText(error) : []);
  if (!(error instanceof UnreachableError)) return;
  const onclick = () => {
    showProblem(null);
    retry();
  };
  place.append(html("button", { type: "button", onclick }, t("problem.again")));
}

/**
 * Write the state of the page into the address and the history.
 *
 * @param {{ replace: boolean }} options
 */
function save({ replace }) {
  const { nodes, index, counted, ruleset, node } = session;
  const state = { view: view?.name, ruleset, query: node.query, ...view?.kept?.() };
  const memories = Object.fromEntries(views.map(each => [each.name, each.memory?.() ?? null]));
  writeAddress(state, { nodes, index, counted, memories }, { replace });
}

/**
 * Turn to a view.
 *
 * @param {string} name
 * @param {{ quiet?: boolean }} options whether to leave the address alone
 */
function showView(name, { quiet = false } = {}) {
  const next = views.find(each => each.name === name);
  if (!next) throw new Error(`the page has no view ${name}`);
  const changes = view !== next;
  if (view && changes) view.leave();
  view = next;
  if (changes && name !== "analysis") panel.closeSetup();
  for (const each of views) find(`#${each.name}`).hidden = each !== next;
  for (const id of ["#table", "#side"]) find(id).hidden = name === "statistics";
  for (const id of ["#set-up", "#fen-form", "#play"])
    find(id).hidden = name === "practice" || name === "game";
  find("#fen-form").hidden = name === "practice";
  find("#steps").hidden = name === "practice";
  for (const link of findAll("nav [data-view]")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  showProblem(name === "statistics" ? null : session.problem);
  if (view.moving) panel.handTo(view.moving);
  view.enter();
  if (!quiet) save({ replace: false });
}

/** Take over the address, and what the history has kept with it. */
function readState() {
  const address = readAddress();
  const kept = history.state;
  session.ruleset = address.ruleset;
  rulesetChoice.value = address.ruleset;
  for (const each of views) {
    // A step in the history changes only the view that it leads to. The others keep their newer state.
    if (view && each.name !== address.view) continue;
    const memory = kept?.memories?.[each.name];
    if (memory) each.recall?.(memory);
    else if (each.name === address.view) each.read?.(address);
  }
  showView(address.view, { quiet: true });
  if (kept?.nodes) session.restore(kept.nodes, kept.index, kept);
  else session.load(address.query ?? START, { quiet: true });
}

session.addEventListener("changed", event => {
  const { how } = /** @type {CustomEvent<{ how: Change }>} */ (event).detail;
  showProblem(null);
  view?.changed(how);
  if (how !== "restored") save({ replace: how !== "loaded" && how !== "played" });
});
session.addEventListener("answered", () => {
  // Without a problem here, the view's own problem stays: the request has cleared older ones.
  if (session.problem && view?.name !== "statistics") showProblem(session.problem);
  view?.answered();
  // The answer has turned a FEN of another program into ours, and set the goal of a practice game.
  if (session.answer) save({ replace: true });
});

for (const link of findAll("[data-view]")) {
  link.onclick = event => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    showView(link.dataset.view ?? "analysis");
  };
}
languageChoice.value = currentLanguage();
languageChoice.onchange = () => setLanguage(languageChoice.value);
onLanguage(() => {
  panel.label();
  fillRulesets(rulesetChoice, session.ruleset);
  showProblem(problem?.error, problem?.retry);
  view?.render();
});
rulesetChoice.onchange = () => session.setRuleset(rulesetChoice.value, { counted: view?.judges });
addEventListener("popstate", readState);

translatePage();
panel.label();
// The name of a rule may depend on what its ruleset counts.
fillRulesets(rulesetChoice, readAddress().ruleset).then(() => view?.render());
readState();
