// From the bytes of an image file to its stored colours and its alpha, no colour profile applied.

const PLAIN = { colorSpaceConversion: "none", premultiplyAlpha: "none" };

function isOpaque(rgba) {
  for (let place = 3; place < rgba.length; place += 4) if (rgba[place] !== 255) return false;
  return true;
}

// Whether a frame shows what a canvas shows: it is not turned as the file's EXIF block says, and a canvas is.
function agrees(straight, drawn) {
  if (straight.length !== drawn.length) return false;
  for (let place = 0; place < drawn.length; place += 4) {
    const alpha = drawn[place + 3];
    if (straight[place + 3] !== alpha) return false;
    if (alpha === 255 && [0, 1, 2].some((channel) => straight[place + channel] !== drawn[place + channel])) return false;
  }
  return true;
}

// Give the colours of a decoded frame, which keeps what stands under transparency.
async function straightPixels(bytes, type) {
  const decoder = new ImageDecoder({ data: bytes, type, ...PLAIN });
  try {
    const { image: frame } = await decoder.decode();
    try {
      const rgba = new Uint8ClampedArray(frame.allocationSize({ format: "RGBA" }));
      await frame.copyTo(rgba, { format: "RGBA" });
      return rgba;
    } finally {
      frame.close();
    }
  } finally {
    decoder.close();
  }
}

// Give { width, height, rgba }, upright: four levels a pixel, colours not multiplied by alpha.
//
// A canvas keeps colours multiplied by alpha, in 8 bits. Where a picture is transparent its frame is asked for the rest; of one
// that is turned too, what the canvas has kept is given.
export async function decodePixels(bytes, type) {
  const bitmap = await createImageBitmap(new Blob([bytes], { type }), { imageOrientation: "from-image", ...PLAIN });
  try {
    const { width, height } = bitmap;
    const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
    context.drawImage(bitmap, 0, 0);
    const drawn = context.getImageData(0, 0, width, height).data;
    if (isOpaque(drawn)) return { width, height, rgba: drawn };
    const straight = await straightPixels(bytes, type);
    return { width, height, rgba: agrees(straight, drawn) ? straight : drawn };
  } finally {
    bitmap.close();
  }
}
