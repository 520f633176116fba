// Where the service worker keeps its jobs.

const PREFIX = "job:";

// Outlives the service worker, and is gone with the browser.
const sessionStore = {
  async all() {
    const stored = await chrome.storage.session.get(null);
    return Object.entries(stored).filter(([key]) => key.startsWith(PREFIX)).map(([, job]) => job);
  },
  async get(id) {
    return (await chrome.storage.session.get(PREFIX + id))[PREFIX + id] ?? null;
  },
  put(job) {
    return chrome.storage.session.set({ [PREFIX + job.id]: job });
  },
  remove(id) {
    return chrome.storage.session.remove(PREFIX + id);
  },
};

// The misbehaviour `memory-routing`: forgotten when the service worker ends.
function memoryStore() {
  const jobs = new Map();
  return {
    all: async () => [...jobs.values()],
    get: async (id) => jobs.get(id) ?? null,
    put: async (job) => void jobs.set(job.id, job),
    remove: async (id) => void jobs.delete(id),
  };
}

export function jobStore(settings) {
  return settings.misbehave.includes("memory-routing") ? memoryStore() : sessionStore;
}
