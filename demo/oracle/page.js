// Draws every given file as <img> shows it, or frame by frame, and sends the pixels back.

const AT_ONCE = 4;

/** Returns the pixels of anything that a canvas can draw. */
function pixels(drawable, width, height) {
  const canvas = new OffscreenCanvas(width, height);
  const context = canvas.getContext("2d", { willReadFrequently: true });
  context.drawImage(drawable, 0, 0, width, height);
  return { width, height, data: context.getImageData(0, 0, width, height).data };
}

async function still(url) {
  const image = new Image();
  // The orientation is applied by the element's style, so the image must be in the document.
  document.body.append(image);
  try {
    await new Promise((done, failed) => Object.assign(image, { onload: done, onerror: failed, src: url }));
    return [{ ms: 0, ...pixels(image, image.naturalWidth, image.naturalHeight) }];
  } finally {
    image.remove();
  }
}

async function moving(url) {
  const response = await fetch(url);
  const type = response.headers.get("Content-Type");
  const decoder = new ImageDecoder({ data: response.body, type });
  await decoder.completed;
  const frames = [];
  for (let frameIndex = 0; frameIndex < decoder.tracks.selectedTrack.frameCount; frameIndex++) {
    const { image } = await decoder.decode({ frameIndex });
    frames.push({ ms: image.duration / 1000, ...pixels(image, image.displayWidth, image.displayHeight) });
    image.close();
  }
  return frames;
}

async function answer({ id, url, kind }) {
  let frames = [];
  let why = "";
  try {
    frames = await (kind === "moving" && self.ImageDecoder ? moving : still)(url);
  } catch (error) {
    why = error.message ?? error.type;
  }
  const said = frames.map(({ ms, width, height }) => [ms, width, height]);
  const body = new Blob([JSON.stringify({ why, frames: said }), "\n", ...frames.map(({ data }) => data)]);
  await fetch(`/shown/${id}`, { method: "POST", body });
}

async function all(jobs) {
  const workers = Array.from({ length: AT_ONCE }, async () => {
    for (let job; (job = jobs.shift());) await answer(job);
  });
  await Promise.all(workers);
}

const { sources, results } = await (await fetch("/jobs")).json();
await all(sources);
await all(results);
await fetch("/done", { method: "POST" });
