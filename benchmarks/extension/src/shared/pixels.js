// From the bytes of an image file to its stored colours and its alpha, no colour profile applied.

const PLAIN = { colorSpaceConversion: "none", premultiplyAlpha: "none" };

function isOpaque(rgba) {
  for (let place = 3; place < rgba.length; place += 4) if (rgba[place] !== 255) return false;
  return true;
}

// A canvas keeps colours multiplied by alpha, and loses what stood under transparency. A decoded frame keeps both.
async function straightPixels(bytes, type, width, height) {
  const decoder = new ImageDecoder({ data: bytes, type, ...PLAIN });
  try {
    const { image: frame } = await decoder.decode();
    try {
      if (frame.displayWidth !== width || frame.displayHeight !== height) return null;
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
export async function decodePixels(bytes, type) {
  const bitmap = await createImageBitmap(new Blob([bytes], { type }), { imageOrientation: "from-image", ...PLAIN });
  try {
    const { width, height } = bitmap;
    const context = new OffscreenCanvas(width, height).getContext("2d", { willReadFrequently: true });
    context.drawImage(bitmap, 0, 0);
    let rgba = context.getImageData(0, 0, width, height).data;
    if (!isOpaque(rgba)) rgba = (await straightPixels(bytes, type, width, height)) ?? rgba;
    return { width, height, rgba };
  } finally {
    bitmap.close();
  }
}
