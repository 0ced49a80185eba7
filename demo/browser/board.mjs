// Tests of the live dashboard, as an operator uses it: ./dev browser-tests.

import assert from "node:assert/strict";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { browser, fits, isAccessible, open, run, server, SIZES, tabTo, until } from "./common.mjs";

const TOKEN = "a token of some length";
const folder = await mkdtemp(join(tmpdir(), "andon-board-"));
const config = join(folder, "andon.toml");
await writeFile(config, `workers = 2
[[origin]]
fs.root = ${JSON.stringify(process.env.SAMPLES)}
[admin]
token = "${TOKEN}"
[log]
level = "warn"
`);
const andon = await server(["serve", "--config", config, "--listen", "127.0.0.1:0"]);
const chromium = await browser();

/** Sends requests, for sizes that were not requested before, so that the charts have data. */
let size = 100;
async function load(requests) {
  const photos = ["photos/otter.jpg", "jpeg/420.jpg"];
  for (let at = 0; at < requests; at++) {
    const response = await fetch(`${andon.address}/r/fit:${size++}x600,as:webp/${photos[at % photos.length]}`);
    await response.arrayBuffer();
  }
}

/** Sends requests like a site's visitors: most for known results, some for new sizes and formats, a few for missing files. */
async function visit(isOver) {
  const photos = ["colosseum", "dandelion", "osprey", "otter", "picos", "sunset", "wren"];
  for (let at = 0; !isOver(); at++) {
    const photo = `photos/${photos[at % photos.length]}.jpg`;
    const fresh = `fit:${200 + size % 700}x700,q:${40 + Math.floor(size++ / 700)}`;
    const targets = [`fit:320x320/${photo}`, `fit:640x640,as:webp/${photo}`, `cover:200x200/${photo}`, `${fresh},as:webp/${photo}`,
      `${fresh},as:${at % 3 ? "jpeg" : "avif"}/${photo}`, `fit:320x320/photos/moved-${at}.jpg`];
    const target = targets[at % 40 === 39 ? 5 : [0, 1, 2, 0, 1, 2, 0, 3, 1, 4][at % 10]];
    await (await fetch(`${andon.address}/r/${target}`)).arrayBuffer();
  }
}

/** Opens the dashboard with the keyboard alone. */
async function board(options) {
  const opened = await open(chromium, `${andon.address}/_andon/board`, options);
  const { page } = opened;
  await until(page, () => !document.getElementById("token").hidden);
  await isAccessible(page);
  await tabTo(page, "#token-text");
  await page.keyboard.type(TOKEN);
  await page.keyboard.press("Enter");
  await until(page, () => document.getElementById("state").textContent === "Live");
  return opened;
}

const tests = [];
for (const viewport of SIZES) {
  for (const colorScheme of ["light", "dark"]) {
    tests.push([`at ${viewport.width} px, ${colorScheme}, the board opens with its token, fits, is accessible and has no errors`, async () => {
      const { page, isQuiet, close } = await board({ viewport, colorScheme });
      await load(4);
      await until(page, () => document.querySelectorAll("#slowest tbody tr").length >= 4);
      await until(page, () => document.querySelectorAll(".drawing svg").length === 4);
      assert.equal(await page.locator("#workers li").count(), 2);
      await fits(page);
      await isAccessible(page);
      isQuiet(["401"]);
      await close();
    }]);
  }
}

tests.push(["what is counted comes within a moment, and errors with their cause", async () => {
  const { page, isQuiet, close } = await board({});
  const hits = () => page.evaluate(() => Number(document.querySelector("#tiers tbody td:nth-child(2)").textContent));
  const before = await hits();
  for (let at = 0; at < 5; at++) await fetch(`${andon.address}/r/fit:90x90/photos/otter.jpg`);
  await until(page, (it) => Number(document.querySelector("#tiers tbody td:nth-child(2)").textContent) >= it, before + 4);
  await fetch(`${andon.address}/r/fit:90x90/none.jpg`);
  await until(page, () => document.getElementById("errors").textContent.includes("not_found"));
  isQuiet(["401"]);
  await close();
}]);

tests.push(["charts have a time axis, and are read by the arrow keys and by the mouse at one moment", async () => {
  const { page, isQuiet, close } = await board({ viewport: SIZES[1] });
  const points = () => (document.querySelector("#latency path")?.getAttribute("d") ?? "").split("L").length;
  let over = false;
  const done = visit(() => over);
  await until(page, () => (document.querySelector("#latency path")?.getAttribute("d") ?? "").split("L").length >= 3);
  over = true;
  await done;
  for (const id of ["outcomes", "latency", "cores", "lookups"]) {
    const times = (await page.locator(`#${id} text`).allTextContents()).filter((it) => /^\d\d:\d\d$/.test(it));
    assert.ok(times.length >= 3, `${id}: ${times}`);
  }
  await tabTo(page, "#outcomes .drawing");
  await page.keyboard.press("ArrowLeft");
  assert.match(await page.textContent("#when"), /^\d\d:\d\d:\d\d: 2xx [\d.]+, 3xx /);
  assert.equal(await page.locator(".cursor").count(), 4);
  await page.keyboard.press("Tab");
  assert.equal(await page.locator(".cursor").count(), 0);
  await page.locator("#cores .drawing").hover();
  assert.equal(await page.locator(".cursor").count(), 4);
  isQuiet(["401"]);
  await close();
}]);

tests.push(["requests that are not found raise an alarm with its way out, and the page of the manual opens", async () => {
  const { page, isQuiet, close } = await board({});
  await until(page, () => document.querySelectorAll("#alarms li").length > 0);
  const done = (async () => { for (let at = 0; at < 400; at++) await (await fetch(`${andon.address}/gone-${at}.jpg`)).arrayBuffer(); })();
  await until(page, () => /refused or not found/.test(document.getElementById("alarms").textContent));
  await done;
  await isAccessible(page);
  assert.match(await page.title(), /^\(\d\) Andon board$/);
  const [manual] = await Promise.all([page.context().waitForEvent("page"), page.locator("#alarms .warn a").first().click()]);
  assert.match(await manual.textContent("body"), /^# Troubleshooting/);
  isQuiet(["401"]);
  await close();
}]);

tests.push(["each dialect has a row with what it saved, and the price of a GB is the reader's own", async () => {
  const { page, isQuiet, close } = await board({});
  await load(2);
  await (await fetch(`${andon.address}/small_light(dw=60,dh=60)/photos/wren.jpg`)).arrayBuffer();
  await until(page, () => /native.*small_light/.test(document.getElementById("dialects").textContent));
  await page.fill("#price", "1000");
  await until(page, () => /Worth\$[1-9\d]*\.\d\d/.test(document.getElementById("saved").textContent));
  await page.reload();
  await until(page, () => document.getElementById("state").textContent === "Live");
  assert.equal(await page.inputValue("#price"), "1000");
  isQuiet(["401"]);
  await close();
}]);

if (process.env.SHOTS) {
  tests.push(["screenshots", async () => {
    for (const viewport of SIZES) {
      for (const colorScheme of ["light", "dark"]) {
        const { page, close } = await board({ viewport, colorScheme });
        page.setDefaultTimeout(120_000);
        let taken = false;
        const busy = Promise.all(Array.from({ length: 6 }, () => visit(() => taken)));
        // Time for charts of some length.
        await until(page, () => document.querySelector("#latency path")?.getAttribute("d").split("L").length > 5);
        await until(page, () => document.querySelectorAll("#workers .busy").length === 2);
        await page.screenshot({ path: `${process.env.SHOTS}/board-${viewport.width}-${colorScheme}.png`, fullPage: viewport.width < 600 });
        taken = true;
        await busy;
        await close();
      }
    }
  }]);
}

await run(tests);
await chromium.close();
andon.stop();
await rm(folder, { recursive: true });
