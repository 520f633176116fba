// What the bytes of an image file say without being decoded.

const AI_SOURCE = "digitalsourcetype/trainedAlgorithmicMedia";

function ascii(bytes, from, to) {
  return String.fromCharCode(...bytes.subarray(from, to));
}

// Told from its first bytes, or null: GIF, SVG and whatever else are not scored.
export function mediaType(bytes) {
  if (ascii(bytes, 0, 8) === "\x89PNG\r\n\x1a\n") return "image/png";
  if (bytes[0] === 0xff && bytes[1] === 0xd8 && bytes[2] === 0xff) return "image/jpeg";
  if (ascii(bytes, 0, 4) === "RIFF" && ascii(bytes, 8, 12) === "WEBP") return "image/webp";
  if (ascii(bytes, 4, 12) === "ftypavif") return "image/avif";
  return null;
}

export async function sha256(bytes) {
  const digest = new Uint8Array(await crypto.subtle.digest("SHA-256", bytes));
  return Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

// Whether an XMP packet or a C2PA store names AI as the source, by its text alone; no signature is looked at.
export function isDeclaredMadeByAI(bytes) {
  return new TextDecoder("latin1").decode(bytes).includes(AI_SOURCE);
}
