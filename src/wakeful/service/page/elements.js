// Elements of the page. Text is always set as text: a name can hold no markup.

/** Make an element; an attribute that is a function listens to the event of that name, `false` leaves one out. */
export function make(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== false && value !== undefined) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

/** Set the text of a node if it differs: an unchanged node keeps its selection and is not announced again. */
export function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

/** Show in `parent` these children and no others; nodes that stay are not touched. */
export function arrange(parent, children) {
  const kept = new Set(children);
  for (const child of [...parent.childNodes]) if (!kept.has(child)) child.remove();
  children.forEach((child, n) => {
    if (parent.childNodes[n] !== child) parent.insertBefore(child, parent.childNodes[n] ?? null);
  });
}

/** Return a sentence in which what stands between backticks is code. */
export function coded(text) {
  return text.split("`").map((words, n) => (n % 2 ? make("code", {}, words) : words));
}

/** Make a section with a heading, and a sentence below it where there is one to say. */
export function section(title, about = "", ...children) {
  const id = `section-${title.toLowerCase().replaceAll(/[^a-z]+/g, "-")}`;
  const heading = make("h2", { id }, title);
  return make(
    "section",
    { "aria-labelledby": id },
    heading,
    ...(about ? [make("p", { class: "soft" }, about)] : []),
    ...children,
  );
}

/** Make a button that copies a text. */
export function copyButton(text, what) {
  const button = make("button", { type: "button", class: "quiet", "aria-label": `Copy ${what}`, click: copy }, "Copy");
  async function copy() {
    say(button, (await copied(text)) ? "Copied" : "Not copied");
    setTimeout(() => say(button, "Copy"), 2000);
  }
  return button;
}

/** Copy a text, also on a page without encryption, where browsers have only the older way. */
async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const box = make("textarea", { class: "unseen", "aria-hidden": "true" });
    box.value = text;
    document.body.append(box);
    box.select();
    const done = document.execCommand("copy");
    box.remove();
    return done;
  }
}
