// The service worker: takes the jobs of all pages, keeps them in storage.session, hands four at a time to the offscreen document.
//
// It may be ended at any moment, and so may the offscreen document. Nothing that a job needs lives in a variable here: a job
// stands in the store from its acceptance to its delivery, a job that was handed out carries a lease, and whatever wakes this
// worker makes it look at all of them again.
import "./settings.js";
import { jobStore } from "./job-store.js";
import { beforeAcceptance } from "./misbehaviour.js";

const settings = globalThis.benchbenchSettings;
const store = jobStore(settings);
const boot = countBoots();

let lifeline = null; // an open port, which tells when the offscreen document ends and does not keep this worker awake
let timer = null;
let advancing = null;
let turn = Promise.resolve();

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

async function countBoots() {
  const { boot: before = 0 } = await chrome.storage.session.get("boot");
  await chrome.storage.session.set({ boot: before + 1 });
  return before + 1;
}

// Changes of the store happen one after the other: each reads what the one before has written.
function inTurn(work) {
  const mine = turn.then(work);
  turn = mine.catch((error) => console.warn(error));
  return mine;
}

// The name of the offscreen document that is open now, or null.
async function openDocument() {
  const found = await chrome.runtime.getContexts({ contextTypes: ["OFFSCREEN_DOCUMENT"] });
  return found.length > 0 ? found[0].documentId : null;
}

// A lease of a document that is no longer open is worth nothing, and so is one of a document that closed as it was opened.
const isOf = (lease, open) => lease !== null && open !== null && lease.document === open;

async function demandDocument() {
  if ((await openDocument()) === null) {
    lifeline = null;
    await chrome.offscreen.createDocument({
      url: "offscreen.html",
      reasons: ["WORKERS"],
      justification: "decodes images and runs the network",
    });
  }
  holdLifeline();
  return openDocument();
}

function holdLifeline() {
  if (lifeline !== null) return;
  const port = chrome.runtime.connect({ name: "lifeline" });
  lifeline = port;
  port.onDisconnect.addListener(() => {
    void chrome.runtime.lastError; // read, or it is logged
    if (lifeline === port) lifeline = null;
    advance();
  });
}

function accept(message, sender) {
  return inTurn(async () => {
    const jobs = await store.all();
    if (jobs.some((job) => job.id === message.id)) return { state: "accepted" };
    if (jobs.length >= settings.queueBound) return { state: "full" };
    await store.put({
      id: message.id,
      url: message.url,
      tabId: sender.tab.id,
      documentId: sender.documentId,
      submittedAt: Date.now(),
      submitBoot: await boot,
      attempts: 0,
      lease: null,
    });
    return { state: "accepted" };
  });
}

// Take back what was lost, hand out what waits. Right at any time; one that has not begun yet serves all who ask.
function advance() {
  advancing ??= inTurn(async () => {
    advancing = null; // whoever asks from now on may have changed what is read next
    const jobs = (await store.all()).sort((one, other) => one.submittedAt - other.submittedAt);
    if (jobs.length === 0) return;
    const open = await openDocument();
    const isHeld = ({ lease }) => isOf(lease, open) && lease.ends > Date.now();
    const held = jobs.filter(isHeld);
    const free = jobs.filter((job) => !isHeld(job));
    for (const job of free.filter((job) => job.attempts >= settings.attempts)) {
      await deliver(job, { status: "inference-error", reason: `its work was lost ${job.attempts} times` });
      await store.remove(job.id);
    }
    const next = free.filter((job) => job.attempts < settings.attempts).slice(0, settings.inFlight - held.length);
    for (const job of next) {
      const lease = { document: await demandDocument(), ends: Date.now() + settings.leaseMs };
      const handed = { ...job, attempts: job.attempts + 1, lease };
      await store.put(handed);
      held.push(handed);
      tellJob(handed);
    }
    if (held.length > 0) {
      holdLifeline();
      const soonest = Math.min(...held.map((job) => job.lease.ends));
      clearTimeout(timer);
      timer = setTimeout(advance, Math.max(0, soonest - Date.now()) + 10);
    }
  }).catch(() => void setTimeout(advance, settings.retryMs));
  return advancing;
}

// What the boot before has handed out, and may not have told the document, is told again: a job is not begun twice.
function remind() {
  return inTurn(async () => {
    const open = await openDocument();
    (await store.all()).filter(({ lease }) => isOf(lease, open)).forEach(tellJob);
  });
}

// Tell the document until it says that it has the job, or the job was taken back from one that is gone.
async function tellJob(job) {
  for (;;) {
    const answer = await tellDocument({ type: "score", id: job.id, url: job.url, submittedAt: job.submittedAt }).catch(() => {});
    if (answer?.state === "taken") return;
    await pause(settings.retryMs);
    await advance();
    if ((await store.get(job.id))?.attempts !== job.attempts) return;
  }
}

function tellDocument(message) {
  return chrome.runtime.sendMessage({ to: "offscreen", ...message });
}

async function finish(message) {
  const job = await store.get(message.id);
  if (job === null) return { state: "unknown" };
  await deliver(job, message.result); // before it is forgotten: ended in between, it is delivered twice, and never not at all
  await inTurn(() => store.remove(job.id));
  advance();
  return { state: "delivered" };
}

async function deliver(job, result) {
  const told = { ...result, submitBoot: job.submitBoot, deliverBoot: await boot };
  try {
    await chrome.tabs.sendMessage(
      job.tabId, { to: "page", type: "result", id: job.id, result: told }, { documentId: job.documentId });
  } catch {
    // the page is gone, and nobody waits for it any more
  }
}

// A page that has heard nothing for long asks after its jobs; what is unknown here it submits again.
async function account(message) {
  const known = new Set((await store.all()).map((job) => job.id));
  advance();
  return { unknown: message.ids.filter((id) => !known.has(id)) };
}

async function greet() {
  await inTurn(demandDocument);
  return tellDocument({ type: "provider" });
}

const ANSWERS = {
  submit: async (message, sender) => {
    beforeAcceptance();
    const answer = await accept(message, sender);
    advance();
    return answer;
  },
  done: finish,
  outstanding: account,
  hello: greet,
};

chrome.runtime.onMessage.addListener((message, sender, reply) => {
  if (message.to !== "worker") return false;
  ANSWERS[message.type](message, sender).then(reply, (error) => reply({ fault: String(error) }));
  return true;
});

remind();
advance(); // what the boot before has left
