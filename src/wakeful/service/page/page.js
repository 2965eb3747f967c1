// The page: which bandit is chosen, and what is known of all of them. The service tells it what changes.

import { BanditView } from "./bandit.js";
import { BanditList } from "./bandits.js";
import { DuelView } from "./duels.js";
import { arrange, make, say } from "./elements.js";
import { beginning } from "./start.js";
import { Refused, token } from "./service.js";
import { Changes } from "./stream.js";

const UNAUTHORIZED = 401; // no token, or one that is not known
const FORBIDDEN = 403; // the token is known, and may not read

const part = (id) => document.getElementById(id);
const wide = matchMedia("(min-width: 56rem)");
const list = new BanditList(part("bandits"));
const changes = new Changes(took, tell);
let bandits = null; // by name; null until the service has said
let view = null;

/** Take what the service says of all bandits. */
function took(data) {
  bandits = new Map(data.bandits.map((state) => [state.name, state]));
  show();
}

/** Return the name in the address; a wide window begins with the first bandit, a narrow one with the list. */
function chosen() {
  const found = /^#bandit=(.*)$/.exec(location.hash);
  if (found) return decoded(found[1]);
  return wide.matches || bandits.size === 1 ? bandits.keys().next().value : undefined;
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // an address that somebody typed
  }
}

function show() {
  if (!bandits) return;
  const name = bandits.size ? chosen() : undefined;
  list.show([...bandits.values()], name);
  document.body.dataset.shows = !bandits.size ? "start" : name === undefined ? "list" : "bandit";
  document.title = name === undefined ? "Wakeful" : `${name} \u2013 Wakeful`;
  if (!bandits.size) place("start", null, beginning);
  else if (name === undefined) place("list", null, () => make("p"));
  else if (bandits.has(name)) place(name, bandits.get(name).kind);
  else place(`missing ${name}`, null, () => make("p", { class: "empty soft" }, `There is no bandit called ${name}.`));
  view.show?.(bandits.get(name));
}

/** Put something into the main part, unless it is there already. */
function place(name, kind, build) {
  if (view?.name === name && view.kind === kind) return;
  view?.stop?.();
  view = kind === "dueling" ? new DuelView(name) : kind ? new BanditView(name) : { name, node: build() };
  view.kind = kind;
  arrange(part("main"), [view.node]);
}

/** Say whether the page is up to date. */
function tell(state, problem, seconds) {
  const said = problem?.status === UNAUTHORIZED ? "A token is needed" : problem?.message;
  const why = problem instanceof Refused ? said : "Not reachable";
  const again = `, trying again in ${Math.max(1, Math.round(seconds))} s`;
  say(part("status"), state === "live" ? "Live" : why + (state === "away" ? again : ""));
  part("status").dataset.state = state;
  part("forget").hidden = !token.get();
  if (state === "live") part("token").hidden = true;
  if (problem?.status === FORBIDDEN) ask(problem.message);
}

/** Ask for a token; say what was wrong with the one that there was. */
function ask(wrong) {
  if (!part("token").hidden) return;
  if (token.get()) say(part("token-says"), wrong);
  token.forget();
  part("token").hidden = false;
  part("token-box").value = "";
  part("token-box").focus();
}

function forget() {
  token.forget();
  location.reload();
}

document.addEventListener("unauthorized", () => ask("The service does not know this token."));
part("token").addEventListener("submit", (event) => {
  event.preventDefault();
  token.set(part("token-box").value.trim());
  part("token").hidden = true;
  changes.start();
});
part("forget").addEventListener("click", forget);
part("skip").addEventListener("click", (event) => {
  event.preventDefault();
  part("main").focus();
});
addEventListener("hashchange", () => {
  show();
  if (view) scrollTo(0, 0);
});
wide.addEventListener("change", show);
changes.start();
