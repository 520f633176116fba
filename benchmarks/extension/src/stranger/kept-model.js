// Keeps the network that somebody gave in the extension's own database.

const STORE = "models";

function asked(request) {
  return new Promise((done, fail) => {
    request.onsuccess = () => done(request.result);
    request.onerror = () => fail(request.error);
  });
}

async function stored(mode, work) {
  const opening = indexedDB.open("lattice", 1);
  opening.onupgradeneeded = () => opening.result.createObjectStore(STORE);
  const database = await asked(opening);
  try {
    return await asked(work(database.transaction(STORE, mode).objectStore(STORE)));
  } finally {
    database.close();
  }
}

export const keepModel = (bytes) => stored("readwrite", (store) => store.put(bytes, "model"));

export const keptModel = async () => (await stored("readonly", (store) => store.get("model"))) ?? null;
