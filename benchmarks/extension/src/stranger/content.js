// Shows its answers in a way of its own: it looks at images that are in sight, and knows nothing of any contract.
(() => {
  const jobs = globalThis.benchbenchJobs;
  const answers = (globalThis.latticeAnswers = {});
  const SPOKEN = { "too-small": "tiny", unsupported: "skipped", "inference-error": "failed", timeout: "gave up" };
  const BACKENDS = { wasm: "CPU", webgpu: "GPU", metadata: "label" };

  async function look(image) {
    image.dataset.latticeState = "busy";
    const found = await jobs.submit(image.src);
    if (found.status === "scored") {
      image.dataset.latticeProbability = String(found.score);
      image.dataset.latticeVerdict = found.result === "ai" ? "generated" : "camera";
      image.dataset.latticeBackend = BACKENDS[found.provider];
      image.dataset.latticeSeconds = String(found.pipelineMs / 1000);
      answers[image.src] = { probability: found.score, tiles: found.cropCount ?? 0 };
    } else {
      image.dataset.latticeNote = found.reason ?? "";
    }
    image.dataset.latticeState = found.status === "scored" ? "done" : SPOKEN[found.status];
  }

  const sight = new IntersectionObserver((seen) => {
    for (const { isIntersecting, target } of seen) {
      if (!isIntersecting) continue;
      sight.unobserve(target);
      look(target);
    }
  });

  const watch = (root) => root.querySelectorAll?.("img").forEach((image) => sight.observe(image));

  async function begin() {
    if (!(await chrome.storage.local.get("isSetUp")).isSetUp) {
      document.documentElement.dataset.lattice = "needs setup";
      return;
    }
    watch(document);
    new MutationObserver((changes) => {
      for (const { addedNodes } of changes) {
        for (const node of addedNodes) node instanceof HTMLImageElement ? sight.observe(node) : watch(node);
      }
    }).observe(document, { subtree: true, childList: true });
    document.documentElement.dataset.lattice = "watching";
  }

  begin();
})();
