// In each page: hands images to the service worker and waits for what becomes of them. A content script, so no module.
globalThis.benchbenchJobs = (() => {
  const settings = globalThis.benchbenchSettings;
  const page = crypto.randomUUID();
  const waiting = new Map();
  let count = 0;
  let heard = performance.now();

  const pause = (ms) => new Promise((done) => setTimeout(done, ms));
  const tell = async (message) => chrome.runtime.sendMessage({ to: "worker", ...message }); // rejects, and never throws

  // A message is lost when the service worker ends while it has it: it is told again, and a job keeps its id.
  async function hand(id) {
    while (waiting.has(id)) {
      const answer = await tell({ type: "submit", id, url: waiting.get(id).url }).catch(() => undefined);
      if (answer?.state === "accepted") return;
      await pause(settings.retryMs);
    }
  }

  // Give what became of the image at this address: a record with a status. It always comes, except from `memory-routing`.
  function submit(url) {
    const id = `${page}:${String((count += 1)).padStart(6, "0")}`;
    const began = performance.now();
    return new Promise((done) => {
      const finish = (record) => {
        waiting.delete(id);
        done({ ...record, pipelineMs: performance.now() - began });
      };
      waiting.set(id, { url, finish });
      if (!settings.misbehave.includes("memory-routing")) {
        const reason = `nothing came back in ${settings.giveUpMs / 1000} s`;
        setTimeout(() => waiting.has(id) && finish({ status: "timeout", reason }), settings.giveUpMs);
      }
      hand(id);
    });
  }

  chrome.runtime.onMessage.addListener((message, _sender, reply) => {
    if (message.to !== "page") return false;
    heard = performance.now();
    waiting.get(message.id)?.finish(message.result);
    reply({});
    return false;
  });

  // When the extension's own process crashes or it is reloaded, this page's half of it is cut off for good.
  const isCutOff = () => chrome.runtime?.id === undefined;

  // Silence for longer than a service worker lives: it may have been ended together with the offscreen document.
  async function askAfter() {
    if (isCutOff()) {
      const record = { status: "inference-error", reason: "the extension has crashed or was reloaded" };
      waiting.forEach(({ finish }) => finish(record));
    }
    if (waiting.size === 0 || performance.now() - heard < settings.silenceMs) return;
    heard = performance.now();
    const answer = await tell({ type: "outstanding", ids: [...waiting.keys()] }).catch(() => undefined);
    (answer?.unknown ?? []).forEach(hand);
  }
  if (!settings.misbehave.includes("memory-routing")) setInterval(askAfter, 1000);

  // Give the provider that the extension works with, once it can work.
  async function provider() {
    while (!isCutOff()) {
      const answer = await tell({ type: "hello" }).catch(() => undefined);
      if (answer?.provider) return answer;
      await pause(settings.retryMs);
    }
    throw new Error("the extension has crashed or was reloaded");
  }

  return { submit, provider };
})();
