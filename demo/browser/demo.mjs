// Tests of the page of ./dev demo, as its visitors use it: ./dev browser-tests.

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { fileURLToPath } from "node:url";

import { browser, fits, isAccessible, open, run, server, SIZES, tabTo, until } from "./common.mjs";

const demo = fileURLToPath(new URL("..", import.meta.url));
mkdirSync(`${demo}site`, { recursive: true });
const andon = await server(["serve", "--config", `${demo}andon.toml`, "--listen", "127.0.0.1:0"], "ignore");
execFileSync("/usr/bin/python3", ["-B", `${demo}demo.py`, "page", andon.address, `${demo}site/index.html`], { stdio: "inherit" });
const chromium = await browser();

/** Opens the page and waits for its first image. */
async function showroom(options) {
  const opened = await open(chromium, `${andon.address}/`, options);
  await until(opened.page, () => document.querySelector("#shown img"));
  return opened;
}

/** Waits until every image of the page is loaded, including those below the window. */
async function loaded(page) {
  await page.evaluate(() => { for (const image of document.images) image.loading = "eager"; });
  await until(page, () => [...document.images].every((it) => it.complete && it.naturalWidth > 0));
}

const tests = [];
for (const viewport of SIZES) {
  for (const colorScheme of ["light", "dark"]) {
    tests.push([`at ${viewport.width} px, ${colorScheme}, all images load, and the page fits, is accessible and has no errors`, async () => {
      const { page, isQuiet, close } = await showroom({ viewport, colorScheme });
      await loaded(page);
      await fits(page);
      await isAccessible(page);
      if (process.env.SHOTS) {
        await page.screenshot({ path: `${process.env.SHOTS}/demo-${viewport.width}-${colorScheme}.png` });
        await page.screenshot({ path: `${process.env.SHOTS}/demo-${viewport.width}-${colorScheme}-full.png`, fullPage: true });
      }
      await page.click("summary");
      await fits(page);
      await isAccessible(page);
      isQuiet();
      await close();
    }]);
  }
}

tests.push(["images are shown at their true size", async () => {
  const { page, isQuiet, close } = await showroom({ viewport: SIZES[1] });
  await loaded(page);
  const wrong = await page.evaluate(() => [...document.querySelectorAll(".card img, .after")]
    .filter((it) => it.clientWidth !== it.naturalWidth || it.clientHeight !== it.naturalHeight).map((it) => `${it.src}: ${it.clientWidth}x${it.clientHeight}`));
  assert.deepEqual(wrong, []);
  isQuiet();
  await close();
}]);

tests.push(["before and after are told apart by the keyboard and by the mouse, in each format with its own bytes", async () => {
  const { page, isQuiet, close } = await showroom({ viewport: SIZES[1] });
  const cut = () => page.evaluate(() => document.querySelector(".stack").style.getPropertyValue("--cut"));
  await tabTo(page, ".stack input");
  await page.keyboard.press("Home");
  assert.equal(await cut(), "0%");
  const stack = page.locator(".stack").first();
  const { width, height } = await stack.boundingBox();
  // Waits until the element is in view and has stopped moving.
  await stack.click({ position: { x: width * 0.75, y: height / 2 } });
  assert.ok(Math.abs(parseFloat(await cut()) - 75) < 3, await cut());
  const told = async () => [await page.textContent(".pair .right b"), await page.getAttribute(".pair .after", "src")];
  const [before] = await told();
  await tabTo(page, ".pair .chips input");
  await page.keyboard.press("ArrowRight");
  const [after, url] = await told();
  assert.notEqual(after, before);
  const response = await fetch(andon.address + url);
  assert.equal(response.headers.get("content-type"), "image/avif");
  const length = (await response.arrayBuffer()).byteLength;
  assert.ok(Math.abs(parseFloat(after) * 1000 - length) < 100, `${after}: ${length}`);
  isQuiet();
  await close();
}]);

tests.push(["the field follows what is typed, and keeps the last good image beside an error", async () => {
  const { page, isQuiet, close } = await showroom({});
  const shown = () => page.evaluate(() => document.querySelector("#shown img").naturalWidth);
  await tabTo(page, "#url");
  await page.keyboard.press("ControlOrMeta+A");
  await page.keyboard.type("r/fit:123x,as:png/photos/wren.jpg");
  await until(page, () => document.querySelector("#shown img")?.naturalWidth === 123);
  assert.match(await page.textContent("#said"), /^123 × 82 px · [\d,]+ bytes · image\/png/);
  await page.fill("#url", "/r/fitt:123x/photos/wren.jpg");
  await until(page, () => document.getElementById("error").textContent.includes("did you mean `fit`?"));
  assert.equal(await shown(), 123);
  await page.getByRole("button", { name: "Try it: the tile of a list" }).click();
  await until(page, () => document.querySelector("#shown img")?.naturalWidth === 300);
  assert.equal(await page.textContent("#error"), "");
  isQuiet(["400 (Bad Request)"]);
  await close();
}]);

await run(tests);
await chromium.close();
andon.stop();
