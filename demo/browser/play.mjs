// The playground as its users meet it: ./dev browser-tests.

import assert from "node:assert/strict";

import { browser, fits, isAccessible, open, run, server, SIZES, tabTo, until } from "./common.mjs";

const samples = process.env.SAMPLES;
const andon = await server(["play", samples, "--listen", "127.0.0.1:0"]);
const chromium = await browser();

/** The page, with an image and a recipe, when the result is there and scored. */
async function playground(recipe, options) {
  const hash = new URLSearchParams({ image: "/photos/otter.jpg", recipe });
  const opened = await open(chromium, `${andon.address}/_andon/play#${hash}`, options);
  await settled(opened.page);
  return opened;
}

const settled = (page) => until(page, () =>
  !document.body.dataset.busy && /\d|–/.test(document.getElementById("score")?.textContent ?? ""));

/** Waits until what is shown was made of this recipe. */
async function shows(page, recipe) {
  await until(page, (it) => new URLSearchParams(location.hash.slice(1)).get("recipe") === it, recipe);
  await settled(page);
}

/** The bytes of the result that the page shows. */
async function shown(page) {
  const bytes = await page.evaluate(async () => {
    const image = document.querySelector("#stage img[alt='The result']");
    return [...new Uint8Array(await window.blobs.get(image.src).arrayBuffer())];
  });
  return Buffer.from(bytes);
}

async function fetched(url) {
  const response = await fetch(andon.address + url);
  assert.equal(response.status, 200, url);
  return Buffer.from(await response.arrayBuffer());
}

const tests = [];
for (const viewport of SIZES) {
  for (const colorScheme of ["light", "dark"]) {
    tests.push([`at ${viewport.width} px, ${colorScheme}, the page fits, is accessible and has no errors`, async () => {
      const { page, isQuiet, close } = await playground("fit:300x300,as:webp,q:80", { viewport, colorScheme });
      await fits(page);
      await isAccessible(page);
      for (const mode of ["slider", "difference", "against"]) {
        await page.check(`input[value=${mode}]`);
        await until(page, () => document.querySelector("#stage .view"));
        await isAccessible(page);
      }
      isQuiet();
      await close();
    }]);
  }
  tests.push([`at ${viewport.width} px a recipe built with the keyboard alone has the bytes of its URL`, async () => {
    const { page, isQuiet, close } = await playground("fit:300x300", { viewport });
    await tabTo(page, "#add");
    await page.keyboard.type("sepia");
    await tabTo(page, "#add-button");
    await page.keyboard.press("Enter");
    await until(page, () => document.getElementById("recipe").value.includes("sepia"));
    const recipe = await page.inputValue("#recipe");
    await shows(page, recipe);
    const bytes = await shown(page);
    assert.deepEqual(bytes, await fetched(`/r/${recipe}/photos/otter.jpg`));
    // Earlier than the scaling, by the step's own button.
    await tabTo(page, "#steps li:nth-child(2) button:first-of-type:not(:disabled)");
    await page.keyboard.press("Enter");
    await until(page, () => document.getElementById("recipe").value.startsWith("sepia"));
    await shows(page, await page.inputValue("#recipe"));
    isQuiet();
    await close();
  }]);
}

tests.push(["a recipe built by clicks has the bytes of its URL, and of every exact one in another dialect", async () => {
  const { page, isQuiet, close } = await playground("fit:300x300", {});
  const form = await page.locator("#add option", { hasText: /^as:/ }).first().getAttribute("value");
  await page.selectOption("#add", form);
  await page.click("#add-button");
  await page.fill("#steps li:last-child input", "png");
  await page.fill("#steps li:first-child label:nth-of-type(1) input", "200");
  await shows(page, "fit:200x300,as:png");
  const bytes = await shown(page);
  const rows = page.locator("#urls tbody tr", { hasText: "open" });
  assert.ok((await rows.count()) >= 2, "native and small_light are served");
  for (const row of await rows.all()) {
    if ((await row.locator(".but").count()) === 0) {
      assert.deepEqual(bytes, await fetched(await row.locator(".mono").textContent()));
    }
  }
  isQuiet();
  await close();
}]);

tests.push(["a URL of another dialect becomes a recipe with its image", async () => {
  const { page, isQuiet, close } = await playground("fit:300x300", {});
  await page.fill("#read-url", "http://cdn.example/unsafe/rs:fill:120:90:1/q:70/plain/local:///jpeg/420.jpg@webp");
  await page.press("#read-url", "Enter");
  await until(page, () => document.getElementById("read-said").textContent.includes("name one of them"));
  await page.selectOption("#read-dialect", "imgproxy");
  await page.press("#read-url", "Enter");
  await shows(page, "cover:120x90:enlarge,as:webp,q:70");
  assert.equal(await page.inputValue("#images"), "/jpeg/420.jpg");
  assert.match(await page.textContent("#read-said"), /^imgproxy reads /);
  isQuiet(["400 (Bad Request)"]);
  await close();
}]);

tests.push(["an image of one's own is rendered as one of the folder is", async () => {
  const { page, isQuiet, close } = await playground("fit:150x150,as:jpeg,q:70", {});
  const before = await shown(page);
  await page.setInputFiles("#file", `${samples}/photos/otter.jpg`);
  await until(page, () => location.hash.includes("image=%2Fotter.jpg"));
  await settled(page);
  assert.deepEqual(await shown(page), before);
  isQuiet();
  await close();
}]);

tests.push(["errors of the server are shown as they are", async () => {
  const { page, isQuiet, close } = await playground("fit:300x300", {});
  await page.fill("#recipe", "fit:wide");
  await until(page, () => document.getElementById("recipe-error").textContent !== "");
  const response = await fetch(`${andon.address}/_andon/play/plan?recipe=fit:wide&source=/photos/otter.jpg`);
  assert.equal(await page.textContent("#recipe-error"), `${response.status}: ${(await response.text()).trim()}`);
  await page.fill("#recipe", "fit:60000x60000:enlarge");
  await until(page, () => document.querySelector("#plan .error")?.textContent.startsWith("422"));
  await until(page, () => document.getElementById("result-error").textContent.startsWith("422"));
  isQuiet(["Failed to load resource"]);
  await close();
}]);

tests.push(["formats are measured, and a point becomes the recipe", async () => {
  const { page, isQuiet, close } = await playground("fit:100x100", {});
  await page.uncheck("#curve-formats input[value=avif]");
  await page.click("#measure");
  await until(page, () => document.querySelectorAll("#curves circle").length === 12);
  await isAccessible(page);
  await page.click("#curves summary");
  await page.click("#curves button[aria-label='Use webp at quality 45']");
  await shows(page, "fit:100x100,as:webp,q:45");
  isQuiet();
  await close();
}]);

tests.push(["what is to be copied holds the URL of the result", async () => {
  const { page, isQuiet, close } = await playground("fit:100x100,as:webp", {});
  const url = `${andon.address}/r/fit:100x100,as:webp/photos/otter.jpg`;
  const forms = await page.locator("#copy-form option").allTextContents();
  assert.deepEqual(forms, ["img", "srcset", "picture", "curl", "PHP", "Python", "nginx"]);
  for (const form of forms) {
    await page.selectOption("#copy-form", form);
    const text = await page.textContent("#copy-text");
    assert.ok(text.includes(form === "nginx" ? url.replace("photos/otter.jpg", "") : url), `${form}: ${text}`);
  }
  await page.selectOption("#copy-form", "srcset");
  assert.match(await page.textContent("#copy-text"), /dpr:2,fit:100x100,as:webp\/photos\/otter\.jpg 2x/);
  isQuiet();
  await close();
}]);

if (process.env.SHOTS) {
  tests.push(["screenshots", async () => {
    for (const viewport of SIZES) {
      for (const colorScheme of ["light", "dark"]) {
        const { page, close } = await playground("fit:800x600,sharpen:0x1,as:webp,q:70", { viewport, colorScheme });
        await page.check("input[value=slider]");
        await page.click("#measure");
        await until(page, () => document.querySelectorAll("#curves circle").length === 18);
        await page.click("#uncached");
        await until(page, () => document.getElementById("time").textContent.includes("past the cache"));
        await page.mouse.move(0, 0);
        const path = `${process.env.SHOTS}/play-${viewport.width}-${colorScheme}`;
        await page.screenshot({ path: `${path}.png` });
        await page.screenshot({ path: `${path}-full.png`, fullPage: true });
        await close();
      }
    }
  }]);
}

await run(tests);
await chromium.close();
andon.stop();
