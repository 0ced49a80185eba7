// Requests targets from a server on loopback and describes its responses.

import { createServer } from "node:http";
import { copyFile, mkdtemp, mkdir, readFile, utimes } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import sharp from "sharp";

const samples = join(dirname(fileURLToPath(import.meta.url)), "../../samples");

/** The files of the folder that is served, each with the sample of which it is a copy. */
export const FILES = {
  "a.jpg": "jpeg/420.jpg",
  "trip/a b.jpg": "jpeg/401x301.jpg",
  "large.jpg": "photos/otter.jpg",
  "turned.jpg": "jpeg/orientation-6.jpg",
  "mirrored.jpg": "jpeg/orientation-4.jpg",
  "alpha.png": "png/alpha.png",
  "rgb.png": "png/rgb.png",
  "lossy.webp": "webp/lossy.webp",
  "moving.webp": "webp/animated.webp",
  "moving.gif": "gif/animated.gif",
  "text.jpg": "broken/text.jpg",
  "corrupt.jpg": "broken/empty.jpg",
  "chart.svg": "svg/chart.svg",
};

/** Copies the files into a new folder and returns its path. */
export async function folder() {
  const root = await mkdtemp(join(tmpdir(), "recorded-"));
  for (const [name, sample] of Object.entries(FILES)) {
    const to = join(root, name);
    await mkdir(dirname(to), { recursive: true });
    await copyFile(join(samples, sample), to);
    await utimes(to, 1_700_000_000, 1_700_000_000);
  }
  return root;
}

/** Serves a handler on loopback and returns the server's address. */
export async function serve(handler) {
  const server = createServer(handler);
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  server.unref();
  return `http://127.0.0.1:${server.address().port}`;
}

/** Serves the files of a folder as they are. */
export function files(root) {
  return async (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    try {
      response.end(await readFile(join(root, decodeURIComponent(pathname))));
    } catch {
      response.statusCode = 404;
      response.end("Not Found");
    }
  };
}

const HEADERS = ["content-type", "vary", "cache-control", "content-security-policy"];

/** Requests a target and describes the response. `{origin}` in the target stands for a server of the same files. */
export async function answer(base, origin, { target, accept }) {
  const url = base + target.replaceAll("{origin}", origin);
  const reply = await fetch(url, { headers: accept === undefined ? {} : { accept } });
  const body = Buffer.from(await reply.arrayBuffer());
  const told = { target };
  if (accept !== undefined) told.accept = accept;
  told.status = reply.status;
  for (const name of HEADERS) {
    const value = reply.headers.get(name);
    if (value !== null) told[name] = value;
  }
  for (const name of ["etag", "last-modified"]) told[name] = reply.headers.has(name);
  if (reply.status !== 200) {
    told.error = body.toString().replaceAll(origin, "{origin}");
    return told;
  }
  const { width, height, pageHeight, pages, isProgressive, hasAlpha } = await sharp(body, { pages: -1 }).metadata();
  return { ...told, size: [width, pageHeight ?? height], frames: pages ?? 1, progressive: !!isProgressive, alpha: hasAlpha };
}

/** Prints responses as JSON, one per line. */
export function print(version, answers) {
  const lines = answers.map((told) => `  ${JSON.stringify(told)}`);
  return `{"version": ${JSON.stringify(version)}, "answers": [\n${lines.join(",\n")}\n]}\n`;
}
