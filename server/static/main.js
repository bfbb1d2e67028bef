/** The page: puts board, session, address and views together. */

import { addressOf, readAddress, writeAddress } from "./address.js";
import { problemText } from "./api.js";
import { Board } from "./board/board.js";
import { BoardPanel } from "./boardPanel.js";
import { find, findAll, replace } from "./dom.js";
import { currentLanguage, onLanguage, setLanguage, t, translatePage } from "./i18n.js";
import { Player } from "./player.js";
import { Session } from "./session.js";
import { fillRulesets } from "./verdict.js";
import { AnalysisView } from "./views/analysis.js";
import { GameView } from "./views/game.js";
import { PracticeView } from "./views/practice.js";
import { StatisticsView } from "./views/statistics.js";

const START = { fen: "W:WKa1,Ke1,c3:BKb8" };

const session = new Session(START);
const player = new Player(session);
const board = new Board(find("#board"), find("#board-notice"));
const table = new BoardPanel({ board, session, player, problem: showProblem });
const shared = {
  board,
  session,
  player,
  problem: showProblem,
  go: showView,
  addressFor: query => addressOf({ query, ruleset: session.ruleset }),
  rewrite: () => save({ replace: true }),
};
const views = Object.fromEntries(
  [new AnalysisView(shared), new PracticeView(shared), new GameView(shared), new StatisticsView(shared)].map(
    view => [view.name, view],
  ),
);
let view = null;

let problem = null;

/** Show an error in the one place for it, with how to try again what failed; null takes it away. */
function showProblem(error, retry = () => session.ask()) {
  problem = { error, retry };
  const place = find("#problem");
  find(view?.name === "statistics" ? "#statistics" : "#side").prepend(place);
  place.hidden = !error;
  replace(place, error ? problemText(error) : []);
  if (!error) return;
  const again = document.createElement("button");
  again.type = "button";
  again.textContent = t("problem.again");
  again.onclick = () => {
    showProblem(null);
    retry();
  };
  if (error.name === "UnreachableError") place.append(again);
}

/** The address of what is seen, into the history. */
function save({ replace }) {
  const { nodes, index, counted, ruleset, node } = session;
  const state = { view: view.name, ruleset, query: node.query, ...view.kept?.() };
  const memories = Object.fromEntries(Object.values(views).map(each => [each.name, each.memory?.() ?? null]));
  writeAddress(state, { nodes, index, counted, memories }, { replace });
}

/** Turn to a view. */
function showView(name, { quiet = false } = {}) {
  const changes = view?.name !== name;
  if (view && changes) view.leave();
  view = views[name];
  if (changes && name !== "analysis") table.closeSetup();
  for (const each of Object.keys(views)) find(`#${each}`).hidden = each !== name;
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
  if (view.moving) table.handTo(view.moving);
  view.enter();
  if (!quiet) save({ replace: false });
}

/** Take over what the address says, and what the history has kept with it. */
function readState() {
  const address = readAddress();
  const kept = history.state;
  session.ruleset = address.ruleset;
  find("#ruleset").value = address.ruleset;
  for (const { name } of Object.values(views)) {
    // Going back and forth changes the view that is gone to; what another one has come to since stands.
    if (view && name !== address.view) continue;
    const memory = kept?.memories?.[name];
    if (memory) views[name].recall(memory);
    else if (name === address.view) views[name].read?.(address);
  }
  showView(address.view, { quiet: true });
  if (kept?.nodes) session.restore(kept.nodes, kept.index, kept);
  else session.load(address.query ?? START, { quiet: true });
}

session.addEventListener("changed", ({ detail: { how } }) => {
  showProblem(null);
  view.changed(how);
  if (how !== "restored") save({ replace: how !== "loaded" && how !== "played" });
});
session.addEventListener("answered", () => {
  // What a view has to complain of stays: with the question every complaint was taken away.
  if (session.problem && view.name !== "statistics") showProblem(session.problem);
  view.answered();
  // A FEN of another kind has become ours, and the task of a practice is known.
  if (session.answer) save({ replace: true });
});

for (const link of findAll("[data-view]")) {
  link.onclick = event => {
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    showView(link.dataset.view);
  };
}
find("#language").value = currentLanguage();
find("#language").onchange = ({ target }) => setLanguage(target.value);
onLanguage(() => {
  table.label();
  fillRulesets(find("#ruleset"), session.ruleset);
  showProblem(problem?.error, problem?.retry);
  view.render();
});
find("#ruleset").onchange = ({ target }) => session.setRuleset(target.value, { counted: view.judges });
addEventListener("popstate", readState);

translatePage();
table.label();
// What a rule is called may depend on what its ruleset counts.
fillRulesets(find("#ruleset"), readAddress().ruleset).then(() => view.render());
readState();
