// Shows what became of each image as docs/extension-contract.md writes it: as an attribute and in the isolated world.
(() => {
  const settings = globalThis.benchbenchSettings;
  const jobs = globalThis.benchbenchJobs;
  const results = (globalThis.benchbenchResults = {});
  const identity = {
    modelSha256: settings.model.sha256,
    preprocessingVersion: settings.model.preprocessingVersion,
  };
  const looked = new WeakMap(); // image to the address that was looked at last

  async function judged(image, url) {
    const { enabled = !settings.misbehave.includes("disabled") } = await chrome.storage.local.get("enabled");
    if (!enabled) return { status: "disabled", reason: "the extension is switched off" };
    await image.decode().catch(() => {}); // a file that cannot be shown is judged by its bytes
    const { naturalWidth: width, naturalHeight: height } = image;
    const least = settings.model.preprocessing.minimum_side;
    if (width > 0 && height > 0 && Math.min(width, height) < least) {
      return { status: "too-small", reason: `sides of ${least} or more are needed, it is ${width}x${height}` };
    }
    return jobs.submit(url);
  }

  async function look(image) {
    const url = image.src;
    if (url === "" || looked.get(image) === url) return;
    looked.set(image, url);
    image.removeAttribute("data-benchbench-result");
    const found = await judged(image, url).catch(({ message }) => ({ status: "inference-error", reason: message }));
    const record = { schema_version: 1, ...identity, ...found };
    results[url] = record;
    if (image.src === url) image.setAttribute("data-benchbench-result", JSON.stringify(record));
  }

  function lookAround(root) {
    if (root instanceof HTMLImageElement) look(root);
    else if (root instanceof Element || root instanceof Document) root.querySelectorAll("img").forEach(look);
  }

  new MutationObserver((changes) => {
    for (const change of changes) {
      if (change.type === "attributes") lookAround(change.target);
      else change.addedNodes.forEach(lookAround);
    }
  }).observe(document, { subtree: true, childList: true, attributes: true, attributeFilter: ["src"] });
  lookAround(document);

  jobs.provider().then(({ provider }) => {
    const { name, version } = chrome.runtime.getManifest();
    const ready = { schema_version: 1, name, version, ...identity, provider };
    document.documentElement.setAttribute("data-benchbench-ready", JSON.stringify(ready));
  });
})();
