// What this extension does wrong on demand, so that tests can see it noticed. A build without demands does nothing here.

const { misbehave, slowMs } = globalThis.benchbenchSettings;

const does = (name) => misbehave.includes(name);
let begun = 0;
let accepted = 0;

const LEAKS = {
  // an address for documentation (RFC 5737), where nothing answers
  "leak-http": () => fetch("http://192.0.2.1/leak", { mode: "no-cors" }).catch(() => {}),
  // a name that never exists (RFC 6761), so that asking for it is all that happens
  "leak-dns": () => fetch("http://leak.benchbench.example/", { mode: "no-cors" }).catch(() => {}),
  "leak-websocket": () => new WebSocket("ws://192.0.2.1/leak"),
  "leak-webrtc": async () => {
    const connection = new RTCPeerConnection({ iceServers: [{ urls: "stun:192.0.2.1:3478" }] });
    connection.createDataChannel("leak");
    await connection.setLocalDescription(await connection.createOffer());
  },
};

// Ends this process within the task: so many elements in one another are too deep to be laid out.
function crash() {
  let innermost = document.body ?? document.documentElement;
  for (let depth = 0; depth < 20_000; depth++) innermost = innermost.appendChild(document.createElement("div"));
  return document.documentElement.offsetHeight;
}

// Called in the service worker before each job is accepted.
export function beforeAcceptance() {
  accepted += 1;
  if (accepted === 1 && does("leak-worker")) fetch("http://192.0.2.1/by-worker", { mode: "no-cors" }).catch(() => {});
}

// Called before the work of each image.
export async function beforeWork() {
  begun += 1;
  if (begun === 1) Object.entries(LEAKS).forEach(([name, leak]) => does(name) && leak());
  if (does("leak-and-crash") && begun === 2) {
    fetch("http://192.0.2.1/last-words", { mode: "no-cors" }).catch(() => {});
    crash();
  }
  if (does("crash-offscreen") && begun === 10 && localStorage.getItem("crashed") === null) {
    localStorage.setItem("crashed", "once in the life of a profile");
    window.close();
  }
  if (does("slow")) await new Promise((done) => setTimeout(done, slowMs));
}

// Called as often as work begins: whether it is forgotten, without a word to anybody.
export function losesWork() {
  return does("lose-jobs") && begun % 5 === 0;
}

// Called before each run of the network.
export function beforeInference() {
  if (does("fail-inference")) throw new Error("this build fails on demand");
}

// Give what is said of the provider.
export function reportedProvider(provider) {
  if (!does("wrong-provider")) return provider;
  return provider === "wasm" ? "webgpu" : "wasm";
}
