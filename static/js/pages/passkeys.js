/* Passkeys: each form[data-passkey] asks the browser for one (get) or makes one (create), and sends the answer.
   The options are in a JSON element of the page, or are fetched when the form is sent. */
"use strict";
for (const form of document.querySelectorAll("form[data-passkey]")) {
  if (!window.PublicKeyCredential?.parseRequestOptionsFromJSON) {
    continue; // the form stays hidden
  }
  form.hidden = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const failed = form.querySelector("[data-failed]");
    failed.hidden = true;
    try {
      form.elements.credential.value = JSON.stringify((await ask(form)).toJSON());
    } catch {
      failed.textContent = failed.dataset.failed;
      failed.hidden = false;
      return;
    }
    form.submit();
  });
}

async function ask(form) {
  const { optionsUrl, options } = form.dataset;
  const sent = optionsUrl
    ? await (await fetch(optionsUrl, { headers: { Accept: "application/json" } })).json()
    : JSON.parse(document.getElementById(options).textContent);
  if (form.dataset.passkey === "get") {
    const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(sent.request_options.publicKey);
    return navigator.credentials.get({ publicKey });
  }
  const publicKey = PublicKeyCredential.parseCreationOptionsFromJSON(sent.creation_options.publicKey);
  Object.assign(publicKey.authenticatorSelection, {
    residentKey: "required", // so that the passkey also works without a password
    requireResidentKey: true,
  });
  return navigator.credentials.create({ publicKey });
}
