// The page of the API: every route of /openapi.json with a form to try it, and every schema.

import { make, say, section } from "./elements.js";
import { operation } from "./operation.js";
import { fieldsOf } from "./schemas.js";
import { read, token } from "./service.js";

const part = (id) => document.getElementById(id);

/** Return the routes of each tag, in the order of the document. */
function byTag(paths) {
  const found = new Map();
  for (const [path, methods] of Object.entries(paths)) {
    for (const [method, about] of Object.entries(methods)) {
      const tag = about.tags?.[0] ?? "other";
      found.set(tag, [...(found.get(tag) ?? []), [method, path, about]]);
    }
  }
  return found;
}

function show(found) {
  say(part("about"), `${found.info.description ?? ""} Version ${found.info.version}.`);
  const sections = [...byTag(found.paths)].map(([tag, routes]) => {
    const rows = routes.map(([method, path, about]) => operation(method, path, about, found));
    return section(tag, "", make("div", {}, ...rows));
  });
  const schemas = Object.entries(found.components.schemas).map(([name, schema]) => fieldsOf(name, schema));
  part("operations").replaceChildren(...sections, section("Schemas", "", make("div", {}, ...schemas)));
  follow();
}

/** Open what the address points at. */
function follow() {
  const target = part(decodeURIComponent(location.hash.slice(1)));
  if (target instanceof HTMLDetailsElement) {
    target.open = true;
    target.scrollIntoView();
    target.querySelector("summary").focus();
  }
}

function tell(state, text) {
  part("status").dataset.state = state;
  say(part("status"), text);
}

part("token-box").value = token.get();
part("token-box").addEventListener("input", () => {
  const text = part("token-box").value.trim();
  if (text) token.set(text);
  else token.forget();
});
part("token").addEventListener("submit", (event) => event.preventDefault());
document.addEventListener("unauthorized", () => part("token-box").focus());
addEventListener("hashchange", follow);
read("openapi.json").then(
  (found) => {
    show(found);
    tell("live", "Ready");
  },
  (error) => tell("away", error.message),
);
