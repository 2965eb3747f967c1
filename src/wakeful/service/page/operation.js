// One route of the API: what it takes, a form to fill in, and what the service answers.

import { coded, copyButton, make } from "./elements.js";
import { described, example } from "./schemas.js";
import { Away, send, token } from "./service.js";

const filled = new Map(); // what was typed for the parts of paths, by name: all routes share it

/** Return a route as a disclosure; what is in it is made when it is opened. */
export function operation(method, path, about, document) {
  const title = [
    make("span", { class: "method", "data-method": method }, method.toUpperCase()),
    make("span", { class: "path" }, path),
    make("span", { class: "summary" }, ...coded(about.summary)),
  ];
  const node = make("details", { class: "operation", id: about.operationId }, make("summary", {}, ...title));
  node.addEventListener("toggle", () => {
    if (node.open && node.children.length === 1) node.append(new Form(method, path, about, document).node);
  });
  return node;
}

class Form {
  constructor(method, path, about, document) {
    Object.assign(this, { method, path, about, document });
    this.inputs = (about.parameters ?? []).map((parameter) => [parameter, this.input(parameter)]);
    const fields = this.inputs.map(([parameter, input]) => labelled(parameter, input));
    const schema = about.requestBody?.content["application/json"].schema;
    if (schema) fields.push(this.bodyField(schema));
    this.result = make("div", { class: "answer", role: "status" });
    const form = make(
      "form",
      { class: "fields", submit: (event) => this.submit(event) },
      ...fields,
      make("div", {}, make("button", { type: "submit" }, "Send")),
    );
    const more = about.description ? [make("p", {}, ...coded(about.description))] : [];
    this.node = make("div", { class: "inside" }, ...more, this.scopes(), form, this.result, this.answers());
  }

  input(parameter) {
    const { schema, name, required } = parameter;
    if (schema.enum)
      return make(
        "select",
        { name },
        ...schema.enum.map((value) => make("option", { value, selected: value === schema.default }, `${value}`)),
      );
    const input = make("input", {
      name,
      required: Boolean(required),
      autocomplete: "off",
      spellcheck: "false",
      placeholder: schema.default ?? (schema.type === "array" ? "one, two, three" : ""),
    });
    if (parameter.in === "path") {
      input.value = filled.get(name) ?? { name: "drinks" }[name] ?? "";
      input.addEventListener("input", () => filled.set(name, input.value));
    }
    return input;
  }

  bodyField(schema) {
    this.body = make("textarea", { spellcheck: "false" });
    this.body.value = JSON.stringify(example(schema, this.document.components.schemas), null, 2);
    return make("label", {}, make("span", {}, "Body: ", ...described(schema)), this.body);
  }

  scopes() {
    const scopes = this.about["x-scopes"] ?? [];
    return make(
      "p",
      { class: "soft what" },
      scopes.length ? `A token needs the scope ${scopes.join(" and ")}.` : "No token is needed.",
    );
  }

  answers() {
    const rows = Object.entries(this.about.responses).flatMap(([status, answer]) => {
      const name = answer.$ref?.split("/").at(-1);
      const whole = name ? this.document.components.responses[name] : answer;
      const schema = Object.values(whole.content ?? {})[0]?.schema;
      return [
        make("dt", {}, status),
        make("dd", {}, ...coded(whole.description), ...(schema && !name ? [": ", ...described(schema)] : [])),
      ];
    });
    return make("details", {}, make("summary", {}, "Answers"), make("dl", { class: "answers" }, ...rows));
  }

  /** Return the address with all that was filled in. */
  address() {
    const query = new URLSearchParams();
    let { path } = this;
    for (const [{ name, in: where, schema }, { value }] of this.inputs) {
      if (where === "path") path = path.replace(`{${name}}`, encodeURIComponent(value));
      else if (value)
        for (const one of schema.type === "array" ? value.split(",") : [value]) query.append(name, one.trim());
    }
    return `${path.slice(1)}${`${query}` && `?${query}`}`;
  }

  async submit(event) {
    event.preventDefault();
    const address = this.address();
    const options = { method: this.method.toUpperCase() };
    if (this.body) Object.assign(options, { body: this.body.value, headers: { "Content-Type": "application/json" } });
    const line = curl(options, new URL(address, document.baseURI).href);
    const began = performance.now();
    try {
      const answer = await send(address || "./", options);
      this.show(line, `${answer.status} ${answer.statusText}`, performance.now() - began, await textOf(answer));
    } catch (error) {
      if (!(error instanceof Away)) throw error;
      this.show(line, "No answer: the service is not reachable.", performance.now() - began, "");
    }
  }

  show(line, status, time, text) {
    const request = make(
      "div",
      { class: "code" },
      make("pre", { tabindex: "0" }, line),
      copyButton(line, "the request"),
    );
    const body = text ? [make("pre", { tabindex: "0" }, text)] : [];
    this.result.replaceChildren(
      request,
      make(
        "p",
        {},
        make("strong", { class: "code-of-answer" }, status),
        make("span", { class: "soft" }, ` in ${time.toFixed(0)} ms`),
      ),
      ...body,
    );
  }
}

function labelled({ name, schema, description, required }, input) {
  const what = make(
    "span",
    { class: "soft what" },
    ...described(schema),
    required ? ", required" : "",
    description ? `. ${description}` : "",
  );
  return make("label", {}, make("code", {}, name), input, what);
}

/** Return a request as a line for a shell. */
function curl({ method, body }, address) {
  const access = token.get() ? ' -H "Authorization: Bearer $WAKEFUL_TOKEN"' : "";
  const data = body === undefined ? "" : ` --json '${body.replaceAll(/\s*\n\s*/g, " ").replaceAll("'", "'\\''")}'`;
  return `curl -X ${method} '${address.replaceAll("'", "%27")}'${access}${data}`;
}

/** Return an answer as text: JSON with indents; of a stream that does not end, what comes first. */
async function textOf(answer) {
  const kind = answer.headers.get("content-type") ?? "";
  if (kind.startsWith("text/event-stream"))
    return firstOf(answer.body.pipeThrough(new TextDecoderStream()).getReader());
  const text = await answer.text();
  if (!kind.startsWith("application/json")) return text;
  const whole = JSON.stringify(JSON.parse(text), null, 2);
  return whole.length > 100_000 ? `${whole.slice(0, 100_000)}\n\u2026` : whole;
}

async function firstOf(reader) {
  let text = "";
  while (!text.includes("\n\n")) {
    const { done, value } = await reader.read();
    if (done) break;
    text += value;
  }
  await reader.cancel();
  return text.trimEnd();
}
