// The offscreen document: does the work of a job, from its address to its record, and reports it to the service worker.
import "./settings.js";
import { chosenProvider, infer } from "./engine.js";
import { isDeclaredMadeByAI, mediaType, sha256 } from "./image-file.js";
import { beforeWork, losesWork, reportedProvider } from "./misbehaviour.js";
import { decodePixels } from "./pixels.js";
import { rawScore, tensor, TooSmall } from "./preprocessing.js";

const settings = globalThis.benchbenchSettings;
const KEPT_SCORES = 512;

const working = new Set();
const scores = new Map(); // by the image's digest; the oldest one leaves first

const pause = (ms) => new Promise((done) => setTimeout(done, ms));

class Ended extends Error {
  constructor(status, reason) {
    super(reason);
    this.status = status;
  }
}

async function timed(record, name, work) {
  const began = performance.now();
  const answer = await work();
  record[name] = performance.now() - began;
  return answer;
}

async function fetched(url, signal) {
  const response = await fetch(url, { cache: "no-store", credentials: "omit", signal });
  if (!response.ok) throw new Ended("inference-error", `its address answered ${response.status}`);
  return new Uint8Array(await response.arrayBuffer());
}

async function pixelScore(bytes, type, record) {
  const pixels = await timed(record, "decodeMs", () => decodePixels(bytes, type)).catch((error) => {
    throw new Ended("unsupported", `it cannot be decoded: ${error.message}`);
  });
  const crops = await timed(record, "preprocessMs", () => tensor(pixels, settings.model.preprocessing));
  const found = await infer(crops);
  record.inferenceMs = found.ms;
  return { score: rawScore(found.answers), cropCount: found.answers.length };
}

async function score(url, record, signal) {
  const bytes = await timed(record, "fetchMs", () => fetched(url, signal));
  record.sha256 = await timed(record, "hashMs", () => sha256(bytes));
  const type = mediaType(bytes);
  if (type === null) throw new Ended("unsupported", "it is no PNG, JPEG, WebP or AVIF file");
  if (isDeclaredMadeByAI(bytes)) {
    return Object.assign(record, { status: "scored", score: 1, result: "ai", provider: "metadata" });
  }
  const { provider, providerDetail } = await chosenProvider();
  Object.assign(record, { provider: reportedProvider(provider) }, providerDetail ? { providerDetail } : {});
  record.cacheStatus = scores.has(record.sha256) ? "hit" : "miss";
  const found = scores.get(record.sha256) ?? (await pixelScore(bytes, type, record));
  scores.set(record.sha256, found);
  if (scores.size > KEPT_SCORES) scores.delete(scores.keys().next().value);
  const result = found.score >= 0.5 ? "ai" : "real";
  return Object.assign(record, {
    status: "scored", score: found.score, rawScore: found.score, pixelScore: found.score, result, cropCount: found.cropCount,
  });
}

function statusOf(error) {
  if (error instanceof Ended) return error.status;
  if (error instanceof TooSmall) return "too-small";
  return error.name === "TimeoutError" ? "timeout" : "inference-error";
}

// In a document that is being closed everything fails, for no fault of an image; its own files tell, and no event does in time.
function isClosing() {
  return fetch("offscreen.html").then(() => false, () => true);
}

async function work({ id, url, submittedAt }) {
  const began = Date.now();
  const record = began >= submittedAt ? { queueMs: began - submittedAt } : {};
  const limit = AbortSignal.timeout(settings.jobMs);
  const stopped = new Promise((_done, fail) => limit.addEventListener("abort", () => fail(limit.reason)));
  try {
    await Promise.race([beforeWork(), stopped]);
    if (losesWork()) return;
    await Promise.race([score(url, record, limit), stopped]);
  } catch (error) {
    if (await isClosing()) return; // the next document gets the job
    Object.assign(record, { status: statusOf(error), reason: String(error.message).slice(0, 200) });
  }
  await report(id, { ...record });
}

// The service worker may end while it has the report: it is told again, which wakes the next one.
async function report(id, result) {
  for (let wait = 100; wait < 20_000; wait *= 2) {
    const answer = await chrome.runtime.sendMessage({ to: "worker", type: "done", id, result }).catch(() => undefined);
    if (answer?.state) return;
    await pause(wait);
  }
}

chrome.runtime.onConnect.addListener(() => {}); // the service worker's lifeline

chrome.runtime.onMessage.addListener((message, _sender, reply) => {
  if (message.to !== "offscreen") return false;
  if (message.type === "provider") {
    chosenProvider().then(({ provider }) => reply({ provider: reportedProvider(provider) }), () => reply({}));
    return true;
  }
  reply({ state: "taken" });
  if (!working.has(message.id)) {
    working.add(message.id);
    work(message).finally(() => working.delete(message.id));
  }
  return false;
});
