// Tests of the documentation site, as its readers use it: ./dev browser-tests site, after ./dev site.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join, normalize } from "node:path";

import { browser, fits, isAccessible, open, run, SIZES } from "./common.mjs";

const folder = process.env.SITE;
const TYPES = { ".html": "text/html", ".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".png": "image/png" };
/** Tests of the site's own style. The rest of the HTML is mdBook's. */
const OURS = ["color-contrast", "link-in-text-block"];
const PAGES = ["index", "docker", "configuration", "cache", "troubleshooting", "reference", "guides/html", "dialects/imgproxy"];

const site = createServer(async (request, response) => {
  const path = join(folder, normalize(new URL(request.url, "http://site").pathname));
  try {
    const body = await readFile(path);
    response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "application/octet-stream" }).end(body);
  } catch {
    response.writeHead(404).end();
  }
});
await new Promise((listening) => site.listen(0, "127.0.0.1", listening));
const address = `http://127.0.0.1:${site.address().port}`;
const chromium = await browser();

/** Finds code that is wider than its box, so that a part of it is out of sight. */
const cut = (page) => page.evaluate(() => [...document.querySelectorAll("main pre > code")]
  .filter((code) => code.scrollWidth > code.clientWidth + 1).map((code) => code.textContent.slice(0, 60)));

const tests = [];
for (const viewport of SIZES) {
  for (const colorScheme of ["light", "dark"]) {
    for (const name of PAGES) {
      tests.push([`${name} at ${viewport.width} px, ${colorScheme}: it fits, has contrast, and cuts no code where it is narrow`, async () => {
        const { page, close } = await open(chromium, `${address}/${name}.html`, { viewport, colorScheme });
        await fits(page);
        await isAccessible(page, OURS);
        if (viewport.width < 600) {
          assert.deepEqual(await cut(page), []);
        }
        await close();
      }]);
    }
  }
}
await run(tests);
await chromium.close();
site.close();
