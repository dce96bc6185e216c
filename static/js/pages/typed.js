/* What a manager types is kept in this tab until a page has taken it, and put back into its form: after a login, since
   the session has ended; after a refusal; after a page was left. Nobody but the same user gets it back. */
"use strict";
(() => {
  const { user } = document.currentScript.dataset;
  const PREFIX = "winnow-typed:";
  const mine = `${PREFIX}${user}:`;
  const TYPED = ":is([type=text], [type=url], [type=email], [type=number], :not([type]))";
  const TEXT = `textarea[name]:not([readonly]), input[name]${TYPED}`;
  const SEEN = "input[name=seen]"; // what the text was typed over: else it would replace what others have saved since
  const FIELDS = `${TEXT}, ${SEEN}, select[name], input[name]:is([type=radio], [type=checkbox])`;

  const fields = (form) => [...form.elements].filter((field) => field.matches(FIELDS));
  const ticks = ({ type }) => type === "radio" || type === "checkbox";
  const given = (form) =>
    fields(form).map((field) => (ticks(field) ? [field.name, field.value, field.checked] : [field.name, field.value]));
  const texts = (form) => fields(form).filter((field) => field.matches(TEXT));
  const forms = [...document.querySelectorAll("main form[method=post]")].filter((form) => texts(form).length);
  const called = (form) => `${mine}${location.pathname}${location.search}#${forms.indexOf(form)}`;

  const stored = (use) => {
    try {
      return use(sessionStorage);
    } catch {
      return null; // no storage, or full: a text that is not saved lives in its page only
    }
  };
  const keep = (form, sent) =>
    stored((storage) => storage.setItem(called(form), JSON.stringify({ given: given(form), sent })));
  const forget = (form) => stored((storage) => storage.removeItem(called(form)));
  const typed = (values) => JSON.stringify(values.filter(([name]) => name !== "seen"));

  // What was sent and a page has answered is saved, or is in that page's form; not if the answer is a login or a refusal.
  // What another user typed in this tab goes.
  const { responseStatus } = performance.getEntriesByType("navigation")[0] ?? {};
  const answered = user && (!responseStatus || responseStatus < 400 || responseStatus === 422);
  stored((storage) => {
    for (const name of Object.keys(storage).filter((one) => one.startsWith(PREFIX))) {
      const one = JSON.parse(storage.getItem(name));
      if ((user && !name.startsWith(mine)) || (answered && one.sent)) storage.removeItem(name);
      else if (one.sent) storage.setItem(name, JSON.stringify({ ...one, sent: false }));
    }
  });
  if (!user) return;

  function put(form, values) {
    const left = [...values];
    for (const field of fields(form)) {
      const at = left.findIndex(([name, value]) => name === field.name && (!ticks(field) || value === field.value));
      if (at < 0) continue;
      const [[, value, checked]] = left.splice(at, 1);
      if (ticks(field)) field.checked = checked;
      else field.value = value;
    }
    for (const field of texts(form)) field.dispatchEvent(new Event("input", { bubbles: true }));
  }

  function tell(form, fresh) {
    const line = document.createElement("p");
    line.className = "message";
    line.setAttribute("role", "status");
    line.append("This is what you typed before. It is not saved yet. ");
    const button = document.createElement("button");
    Object.assign(button, { type: "button", className: "link", textContent: "Discard it" });
    button.addEventListener("click", () => {
      put(form, fresh);
      forget(form);
      line.remove();
    });
    line.append(button);
    form.prepend(line);
  }

  for (const form of forms) {
    const before = stored((storage) => JSON.parse(storage.getItem(called(form))));
    const fresh = given(form);
    if (before && typed(before.given) !== typed(fresh)) {
      put(form, before.given);
      tell(form, fresh);
    }
    form.addEventListener("input", () => keep(form, false));
    form.addEventListener("submit", () => keep(form, true));
  }

  // The editor of protocol files saves as one types; an answer that loads the page anew has asked for a login.
  document.body.addEventListener("htmx:afterRequest", ({ detail: { successful, elt, xhr } }) => {
    const form = elt.closest("form");
    if (successful && !xhr.getResponseHeader("HX-Refresh") && forms.includes(form)) forget(form);
  });
  document.querySelector("form.bar-end")?.addEventListener("submit", () =>
    stored((storage) => {
      for (const name of Object.keys(storage)) if (name.startsWith(PREFIX)) storage.removeItem(name);
    }),
  );
})();
