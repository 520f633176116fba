// The setup page: takes the file of the network, checks it, and keeps it.
import "./settings.js";
import { sha256 } from "./image-file.js";
import { keepModel, keptModel } from "./kept-model.js";

const { model } = globalThis.benchbenchSettings;
const say = (text) => (document.querySelector("#status").textContent = text);

document.querySelector("#model-file").addEventListener("change", async ({ target }) => {
  say("Reading the file");
  const bytes = new Uint8Array(await target.files[0].arrayBuffer());
  if ((await sha256(bytes)) !== model.sha256) {
    say("Error: this is not the model that this version works with");
    return;
  }
  await keepModel(bytes);
  await chrome.storage.local.set({ isSetUp: true });
  say("Model ready");
});

keptModel().then((bytes) => bytes !== null && say("Model ready"));
