// The network is what the setup page has stored.
import { keptModel } from "./kept-model.js";

export async function modelBytes() {
  const bytes = await keptModel();
  if (bytes === null) throw new Error("no model was given on the setup page");
  return bytes;
}
