// Screens whose answer is more than one pick (data-form names the kind). The script of a kind puts itself into `kinds`:
// ready(screen) wires a new screen up; key(event, screen) says whether it took the key; lacks(screen) says in a sentence
// what is still to be answered, or "". What is typed is remembered until it is sent, also over a reload.

export const kinds = {};
export const kindOf = (screen) => kinds[screen?.node.dataset.form];

const DRAFT = `winnow-draft:${location.pathname}:`; // of this annotator: another tab may have another study
const named = (node) => [...node.querySelectorAll("[name]")].filter(({ name, disabled }) => name !== "lease" && !disabled);
const ticks = ({ type }) => type === "radio" || type === "checkbox";

// Name → value, of what is filled in.
export function fields(node) {
  const filled = named(node).filter((field) => !ticks(field) || field.checked);
  return Object.fromEntries(filled.map(({ name, value }) => [name, value]));
}

export function fill(node, said) {
  for (const field of named(node)) {
    if (ticks(field)) field.checked = said[field.name] === field.value;
    else field.value = said[field.name] ?? field.defaultValue ?? ""; // a list has none
  }
  node.dispatchEvent(new CustomEvent("filled"));
}

export const same = (one, other) => JSON.stringify(one) === JSON.stringify(other);

// Its draft is put back, and kept from now on.
export function prepare(screen) {
  const { node, lease } = screen;
  if (screen.answer === "") stored((storage) => {
    const draft = storage.getItem(DRAFT + lease);
    if (draft) fill(node, JSON.parse(draft));
  });
  const keep = () => screen.sent || stored((storage) => storage.setItem(DRAFT + lease, JSON.stringify(fields(node))));
  for (const type of ["input", "change", "filled"]) node.addEventListener(type, keep);
  kindOf(screen)?.ready(screen);
}

export const forget = (lease) => stored((storage) => storage.removeItem(DRAFT + lease));

// Drafts of screens that are not here any more.
export function sweep(leases) {
  stored((storage) => {
    const drafts = Object.keys(storage).filter((name) => name.startsWith(DRAFT));
    drafts.filter((name) => !leases.includes(name.slice(DRAFT.length))).forEach((name) => storage.removeItem(name));
  });
}

function stored(use) {
  try {
    use(localStorage);
  } catch {
    // no storage (a private window, or full): a reload loses what was not sent
  }
}
