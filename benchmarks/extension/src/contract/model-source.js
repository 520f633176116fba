// The network comes with the extension.

export async function modelBytes() {
  return new Uint8Array(await (await fetch(chrome.runtime.getURL("model.onnx"))).arrayBuffer());
}
