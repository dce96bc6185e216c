/* What a manager types is kept in this tab until the server says that it has taken it, and put back into its form: after
   a login, since the session has ended; after a refusal; after a page was left, or could not be reached. Nobody but the
   same user gets it back. */
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
  // As the server made the page, also where the browser has put back what was typed before a reload.
  const chosen = ({ options }) => ([...options].find((one) => one.defaultSelected) ?? options[0])?.value;
  const served = (form) =>
    fields(form).map((field) => {
      if (ticks(field)) return [field.name, field.value, field.defaultChecked];
      return [field.name, field.options ? chosen(field) : field.defaultValue];
    });
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
  const keep = (form, key = "") =>
    stored((storage) => storage.setItem(called(form), JSON.stringify({ given: given(form), key })));
  const forget = (form) => stored((storage) => storage.removeItem(called(form)));
  const typed = (values) => JSON.stringify(values.filter(([name]) => name !== "seen"));

  // The status of the server's answer to the form that was sent with this key (config/typed.py), once; 0 if none came.
  function answerTo(key) {
    const cookie = `winnow-typed-${key}`;
    const [, status] = document.cookie.match(`${cookie}=(\\d+)`) ?? [];
    if (status) document.cookie = `${cookie}=; path=/; max-age=0; samesite=lax`;
    return Number(status ?? 0);
  }

  // Saved is what led to another page that names no error, and what the form now has from the server. A page that
  // answered by itself has saved it too, unless it has it in its form still: a preview, or a refusal.
  function saved(status, here) {
    if (status === 302) return !document.querySelector(".messages .error");
    return status === 200 ? !here : !status && here;
  }

  if (!user) return;
  stored((storage) => {
    for (const name of Object.keys(storage).filter((one) => one.startsWith(PREFIX))) {
      const { given: values, key } = JSON.parse(storage.getItem(name));
      const status = key && answerTo(key);
      const form = forms.find((one) => called(one) === name);
      const here = form && typed(values) === typed(served(form));
      if (!name.startsWith(mine) || saved(status, here)) storage.removeItem(name); // or another user's, in this tab
      else if (form && (status === 200 || status === 422)) keep(form); // with what its page has seen
    }
  });

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
    const fresh = served(form);
    if (before && typed(before.given) !== typed(fresh)) {
      put(form, before.given);
      tell(form, fresh);
    }
    form.addEventListener("input", () => keep(form));
    let sending = false; // as a page, now or after an upload; scripts read forms for themselves too
    form.addEventListener("submit", () => (sending = true));
    form.addEventListener("formdata", ({ formData }) => {
      if (!sending) return;
      sending = false;
      const key = Array.from(crypto.getRandomValues(new Uint32Array(4)), (part) => part.toString(36)).join("");
      formData.set("typed_key", key);
      keep(form, key);
    });
  }

  // The editor of protocol files saves as one types; an answer that loads the page anew has asked for a login.
  document.body.addEventListener("htmx:afterRequest", ({ detail: { successful, elt, xhr, requestConfig } }) => {
    const form = elt.closest("form");
    if (!successful || xhr.getResponseHeader("HX-Refresh") || !forms.includes(form)) return;
    const { parameters } = requestConfig;
    if (texts(form).every(({ name, value }) => parameters[name] === value)) forget(form); // not what was typed since
  });
  document.querySelector("form.bar-end")?.addEventListener("submit", () =>
    stored((storage) => {
      for (const name of Object.keys(storage)) if (name.startsWith(PREFIX)) storage.removeItem(name);
    }),
  );
})();
