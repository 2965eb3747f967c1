// JSON schemas, as people read them: what a value may be, and an example of it.

import { coded, make } from "./elements.js";

// An example for each body that reads well; the rest are made from the schema.
const EXAMPLES = {
  NewBandit: { arms: ["tea", "coffee", "juice"] },
  Changes: { wait: 3600 },
  NewArm: { name: "water" },
  NewDecision: { awake: ["tea", "juice"] },
  Feedback: { loss: 0.3 },
  Batch: { decisions: [{ awake: ["tea", "juice"], id: "second" }], feedback: [{ decision: "second", loss: 0.3 }] },
  Records: { records: [{ arm: "tea", awake: ["tea", "juice"], probability: 0.5, loss: 0.3 }] },
};
const LIMITS = {
  minLength: (n) => (n > 1 ? `at least ${n} characters` : ""),
  maxLength: (n) => `at most ${n} characters`,
  minItems: (n) => `at least ${n}`,
  maxItems: (n) => `at most ${n}`,
  minimum: (n) => `at least ${n}`,
  exclusiveMinimum: (n) => `more than ${n}`,
  maximum: (n) => `at most ${n}`,
  exclusiveMaximum: (n) => `less than ${n}`,
};

export const nameOf = (schema) => schema.$ref?.split("/").at(-1);

/** Return a body that can be sent as it is, of a schema of the document. */
export function example(schema, schemas) {
  const name = nameOf(schema) ?? schema.title;
  const whole = schemas[name] ?? schema;
  const [kind] = alternatives(whole);
  if (name in EXAMPLES) return EXAMPLES[name];
  if ("default" in whole) return whole.default;
  if (kind.enum) return kind.enum[0];
  if (kind.type === "array") return [example(kind.items, schemas)];
  if (kind.type === "object")
    return Object.fromEntries((kind.required ?? []).map((key) => [key, example(kind.properties[key], schemas)]));
  return { string: "text", number: 0.5, integer: 1, boolean: false }[kind.type] ?? null;
}

const alternatives = (schema) => (schema.anyOf ?? [schema]).filter((one) => one.type !== "null" || !schema.anyOf);

/** Return what a value may be, as text and links to schemas. */
export function described(schema) {
  const kinds = (schema.anyOf ?? [schema]).map(kindOf);
  const words = kinds.flatMap((kind, n) => (n ? [" or ", ...kind] : kind));
  const limits = (schema.anyOf ?? [schema]).flatMap((one) =>
    Object.entries(LIMITS).map(([key, say]) => (key in one ? say(one[key]) : "")),
  );
  const given =
    schema.default !== undefined && schema.default !== null ? [`${JSON.stringify(schema.default)} if left out`] : [];
  const more = [...limits.filter(Boolean), ...given].join(", ");
  return more ? [...words, ` (${more})`] : words;
}

function kindOf(schema) {
  const name = nameOf(schema);
  if (name) return [make("a", { href: `#schema-${name}` }, name)];
  if (schema.enum) return [schema.enum.map((value) => JSON.stringify(value)).join(" or ")];
  if (schema.prefixItems)
    return ["list of ", ...schema.prefixItems.flatMap((one, n) => (n ? [" and ", ...kindOf(one)] : kindOf(one)))];
  if (schema.type === "array") return ["list of ", ...kindOf(schema.items ?? {})];
  if (schema.type === "object" && schema.additionalProperties?.type)
    return ["object of ", ...kindOf(schema.additionalProperties)];
  return [schema.type === "null" ? "null" : (schema.type ?? "anything")];
}

/** Return a schema as a table of its fields. */
export function fieldsOf(name, schema) {
  const needed = new Set(schema.required ?? []);
  const rows = Object.entries(schema.properties ?? {}).map(([key, field]) =>
    make(
      "tr",
      {},
      make("th", { scope: "row" }, make("code", {}, key)),
      make("td", {}, ...described(field), field.description ? `. ${field.description}` : ""),
      make("td", { class: "soft" }, needed.has(key) ? "required" : ""),
    ),
  );
  const table = make(
    "table",
    {},
    make("caption", { class: "unseen" }, `Fields of ${name}`),
    make("tbody", {}, ...rows),
  );
  const about = make("p", { class: "soft" }, ...coded(schema.description ?? ""));
  return make(
    "details",
    { class: "schema", id: `schema-${name}` },
    make("summary", {}, name),
    about,
    make("div", { class: "scroll" }, table),
  );
}
