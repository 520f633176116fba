// The network: which provider runs it, and its answers. ONNX Runtime is loaded with the first image.
import { modelBytes } from "./model-source.js";
import { beforeInference } from "./misbehaviour.js";

const settings = globalThis.benchbenchSettings;

let chosen = null;
let session = null;
let turn = Promise.resolve();

async function choose() {
  if (settings.webgpu) {
    const adapter = await navigator.gpu?.requestAdapter();
    if (adapter) {
      const { vendor, architecture, isFallbackAdapter } = adapter.info;
      return { provider: "webgpu", providerDetail: { vendor, architecture, isFallbackAdapter } };
    }
  }
  return { provider: "wasm" };
}

// Give { provider, providerDetail? }: the graphics adapter if this build wants one and there is one, else WebAssembly.
export function chosenProvider() {
  chosen ??= choose();
  return chosen;
}

async function start() {
  const { provider } = await chosenProvider();
  const ort = await import(settings.webgpu ? "./ort/ort.webgpu.min.mjs" : "./ort/ort.wasm.min.mjs");
  Object.assign(ort.env.wasm, { wasmPaths: chrome.runtime.getURL("ort/"), numThreads: 1, proxy: false });
  const network = await ort.InferenceSession.create(await modelBytes(), { executionProviders: [provider] });
  return { ort, network };
}

async function run({ data, dims }) {
  session ??= start();
  const { ort, network } = await session;
  beforeInference();
  const began = performance.now();
  const input = new ort.Tensor("float32", data, dims);
  const outputs = await network.run({ [network.inputNames[0]]: input });
  const answers = Array.from(await outputs[settings.model.output].getData());
  const ms = performance.now() - began;
  input.dispose();
  return { answers, ms };
}

// Give { answers, ms }: a number for each crop, and how long the network ran. One image after the other.
export function infer(crops) {
  const mine = turn.then(() => run(crops));
  turn = mine.catch(() => {});
  return mine;
}
