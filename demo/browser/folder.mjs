// Tests of the page at / of a server without a configuration file, which shows a folder of photos: ./dev browser-tests.

import assert from "node:assert/strict";
import { cp, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { browser, fits, isAccessible, open, run, server, SIZES, tabTo, until } from "./common.mjs";

const folder = await mkdtemp(join(tmpdir(), "andon-folder-"));
const photos = join(process.env.SAMPLES, "photos");
await cp(photos, join(folder, "photos"), { recursive: true });
for (let copy = 0; copy < 80; copy++) await cp(join(photos, "otter.jpg"), join(folder, `copies/otter ${copy}.jpg`));
const andon = await server(["serve", folder, "--port", "0"], "ignore");
const chromium = await browser();
const show = (target, options) => open(chromium, `${andon.address}${target}`, options);

/** Waits until the thumbnails in the window are loaded. */
const drawn = (page) => until(page, () => {
  const near = [...document.querySelectorAll("img")].filter((it) => it.getBoundingClientRect().top < innerHeight);
  return near.length > 1 && near.every((it) => it.complete && it.naturalWidth > 0);
});

const tests = [];
for (const viewport of SIZES) {
  for (const colorScheme of ["light", "dark"]) {
    tests.push([`at ${viewport.width} px, ${colorScheme}, it shows thumbnails, fits, is accessible and has no errors`, async () => {
      const { page, isQuiet, close } = await show("/", { viewport, colorScheme });
      await drawn(page);
      await fits(page);
      await isAccessible(page);
      if (process.env.SHOTS) await page.screenshot({ path: `${process.env.SHOTS}/folder-${viewport.width}-${colorScheme}.png` });
      isQuiet();
      await close();
    }]);
  }
}

tests.push(["images further down are fetched when they come near", async () => {
  const { page, isQuiet, close } = await show("/", { viewport: SIZES[0] });
  await drawn(page);
  const last = page.locator(".images img").last();
  assert.equal(await last.evaluate((it) => it.naturalWidth), 0);
  await last.scrollIntoViewIfNeeded();
  await until(page, () => [...document.querySelectorAll(".images img")].at(-1).naturalWidth > 0);
  isQuiet();
  await close();
}]);

tests.push(["a search by the keyboard finds one image, which shows its URLs", async () => {
  const { page, isQuiet, close } = await show("/", {});
  await tabTo(page, "input[type=search]");
  await page.keyboard.type("OTTER 42");
  await page.keyboard.press("Enter");
  await until(page, () => document.querySelectorAll(".images li").length === 1);
  await tabTo(page, ".images a");
  await page.keyboard.press("Enter");
  await until(page, () => document.querySelector(".preview .mono").textContent === "copies/otter 42.jpg");
  const urls = await page.locator(".urls td a").evaluateAll((all) => all.map((it) => it.href));
  assert.ok(urls.length >= 14, urls.join("\n"));
  for (const url of urls) {
    const response = await fetch(url);
    assert.equal(response.status, 200, url);
    assert.match(response.headers.get("content-type"), /^image\//, url);
    await response.arrayBuffer();
  }
  isQuiet();
  await close();
}]);

tests.push(["the next page shows other images, and the playground opens with the chosen one", async () => {
  const { page, isQuiet, close } = await show("/", {});
  const first = await page.locator(".images li").first().textContent();
  await page.getByRole("link", { name: "Next", exact: true }).click();
  await until(page, (it) => document.querySelector(".images li").textContent !== it, first);
  const chosen = await page.locator(".preview .mono").textContent();
  await page.getByRole("link", { name: "Open in the playground" }).click();
  await until(page, (it) => document.getElementById("images")?.value === `/${it}`, chosen);
  isQuiet();
  await close();
}]);

tests.push(["an image that cannot be read says so in its tile, and why", async () => {
  const file = join(folder, "broken.jpg");
  await cp(join(process.env.SAMPLES, "broken/text.jpg"), file);
  // The server caches the list of a folder for a while, which is longer the longer it took to read it.
  const listed = async () => {
    const reply = await fetch(`${andon.address}/?find=broken.jpg`, { headers: { Accept: "text/html" } });
    return /src="[^"]*broken\.jpg"/.test(await reply.text());
  };
  while (!(await listed())) await new Promise((done) => setTimeout(done, 100));
  const { page, close } = await show("/?find=broken.jpg", {});
  await until(page, () => document.querySelector(".images .unread") !== null);
  const said = await page.locator(".images .unread").textContent();
  assert.match(said, /^This image cannot be shown: ./);
  const why = await (await fetch(`${andon.address}/r/fit:360x360,as:webp,q:75/broken.jpg`)).text();
  assert.ok(said.includes(why.split("\n")[0]), `${said}\n${why}`);
  await isAccessible(page);
  await close();
  await rm(file);
}]);

await run(tests);
await chromium.close();
andon.stop();
await rm(folder, { recursive: true });
