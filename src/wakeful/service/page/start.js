// What an empty service shows: the three requests with which one starts.

import { copyButton, make } from "./elements.js";
import { token } from "./service.js";

const REQUESTS = [
  ["Make a bandit with three arms", "PUT", "drinks", { arms: ["tea", "coffee", "juice"] }],
  ["Ask which of the available arms to take", "POST", "drinks/decisions", { awake: ["tea", "juice"], id: "first" }],
  ["Tell how it went", "POST", "drinks/decisions/first/feedback", { loss: 0.3 }],
];

/** Return a request as a line for a shell. */
function curl(method, path, body) {
  const service = new URL("v1/bandits/", document.baseURI).href;
  const access = token.get() ? ' -H "Authorization: Bearer $WAKEFUL_TOKEN"' : "";
  return `curl -X ${method} ${service}${path}${access} --json '${JSON.stringify(body)}'`;
}

/** Return what to show where there is no bandit yet. */
export function beginning() {
  const steps = REQUESTS.map(([what, ...request], n) => {
    const line = curl(...request);
    return make(
      "li",
      {},
      make("p", {}, what),
      make(
        "div",
        { class: "code" },
        make("pre", { tabindex: "0" }, make("code", {}, line)),
        copyButton(line, `step ${n + 1}`),
      ),
    );
  });
  const api = make("a", { href: "docs" }, "the API");
  return make(
    "article",
    { class: "empty" },
    make("h1", {}, "No bandit yet"),
    make(
      "p",
      { class: "soft" },
      "Three lines in a terminal make the first one. This page shows it as soon as it is there; ",
      api,
      " has everything else.",
    ),
    make("ol", { class: "steps" }, ...steps),
  );
}
