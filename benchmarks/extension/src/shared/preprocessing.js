// From pixels to the network's numbers and from its answers to a score, by the rules of docs/onnx.md.
//
// Only what the fixture's own model declares is written here; build.py refuses a model that declares anything else.

const ONE = 2 ** 22; // weights of a resize are whole multiples of 1 / ONE

export class TooSmall extends Error {}

// Lay a picture over its background: (level * alpha + background * (255 - alpha)) / 255, halves rounded up.
export function composite(rgba, background) {
  const rgb = new Uint8Array((rgba.length / 4) * 3);
  for (let from = 0, to = 0; from < rgba.length; from += 4, to += 3) {
    const alpha = rgba[from + 3];
    for (let channel = 0; channel < 3; channel += 1) {
      const summed = rgba[from + channel] * alpha + background[channel] * (255 - alpha);
      rgb[to + channel] = Math.floor((2 * summed + 255) / 510);
    }
  }
  return rgb;
}

// Give for each new pixel of one axis the first old one that it takes from, and their weights.
function contributions(have, want) {
  const scale = have / want;
  const reach = Math.max(scale, 1);
  return Array.from({ length: want }, (_unused, place) => {
    const centre = (place + 0.5) * scale;
    const first = Math.max(0, Math.trunc(centre - reach + 0.5));
    const end = Math.min(have, Math.trunc(centre + reach + 0.5));
    const weights = [];
    for (let from = first; from < end; from += 1) {
      weights.push(Math.max(0, 1 - Math.abs((from + 0.5 - centre) / reach)));
    }
    const sum = weights.reduce((total, weight) => total + weight, 0);
    return { first, weights: weights.map((weight) => Math.round((weight / sum) * ONE)) };
  });
}

// Scale one axis: `lines` lines of `have` pixels, neighbours `step` apart, lines `stride` apart. Each pass rounds to 8 bits.
function scaleAxis(levels, scaled, { have, want, lines, step, stride, scaledStride }) {
  contributions(have, want).forEach(({ first, weights }, place) => {
    for (let line = 0; line < lines; line += 1) {
      for (let channel = 0; channel < 3; channel += 1) {
        let summed = ONE / 2;
        for (let index = 0; index < weights.length; index += 1) {
          summed += weights[index] * levels[line * stride + (first + index) * step + channel];
        }
        scaled[line * scaledStride + place * step + channel] = Math.min(255, Math.max(0, Math.floor(summed / ONE)));
      }
    }
  });
}

// Pillow's bilinear filter with antialiasing, columns first and then rows.
export function resize({ width, height, rgb }, [wide, high]) {
  if (wide === width && high === height) return { width, height, rgb };
  let levels = rgb;
  if (wide !== width) {
    const scaled = new Uint8Array(wide * height * 3);
    scaleAxis(levels, scaled, {
      have: width, want: wide, lines: height, step: 3, stride: width * 3, scaledStride: wide * 3,
    });
    levels = scaled;
  }
  if (high !== height) {
    const scaled = new Uint8Array(wide * high * 3);
    scaleAxis(levels, scaled, { have: height, want: high, lines: wide, step: wide * 3, stride: 3, scaledStride: 3 });
    levels = scaled;
  }
  return { width: wide, height: high, rgb: levels };
}

function corners({ mode, size: [wide, high] }, { width, height }) {
  const down = height - high;
  const right = width - wide;
  const middle = [Math.floor(down / 2), Math.floor(right / 2)];
  return mode === "five" ? [[0, 0], [0, right], [down, 0], [down, right], middle] : [middle];
}

// Give { data, dims }: the crops of a picture { width, height, rgba }, (N, 3, height, width), 32-bit floats.
export function tensor({ width, height, rgba }, declared) {
  if (Math.min(width, height) < declared.minimum_side) {
    const needed = declared.minimum_side;
    throw new TooSmall(`sides of ${needed} or more are needed, it is ${width}x${height}`);
  }
  let picture = { width, height, rgb: composite(rgba, declared.alpha) };
  if (declared.resize !== null) {
    const { side } = declared.resize;
    const shortest = Math.min(width, height);
    picture = resize(picture, [Math.floor((side * width) / shortest), Math.floor((side * height) / shortest)]);
  }
  const crops = declared.crops ?? { mode: "centre", size: [picture.width, picture.height] };
  const [wide, high] = crops.size;
  const places = corners(crops, picture);
  const data = new Float32Array(places.length * 3 * wide * high);
  let to = 0;
  for (const [top, left] of places) {
    for (let channel = 0; channel < 3; channel += 1) {
      for (let row = top; row < top + high; row += 1) {
        for (let column = left; column < left + wide; column += 1) {
          data[to++] = picture.rgb[(row * picture.width + column) * 3 + channel] / declared.scale;
        }
      }
    }
  }
  return { data, dims: [places.length, 3, high, wide] };
}

// Give the probability of AI: the logistic function of the mean of the crops' logits.
export function rawScore(logits) {
  let sum = 0;
  for (const logit of logits) {
    if (!Number.isFinite(logit)) throw new Error("the network's answer is not finite");
    sum += logit;
  }
  const mean = sum / logits.length;
  const grown = Math.exp(-Math.abs(mean));
  return mean >= 0 ? 1 / (1 + grown) : grown / (1 + grown);
}
