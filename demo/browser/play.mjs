// Tests of the playground, as its users use it: ./dev browser-tests.

import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { copyFile, cp, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { browser, fits, isAccessible, open, run, server, SIZES, tabTo, until } from "./common.mjs";

const samples = await mkdtemp(join(tmpdir(), "samples-"));
process.on("exit", () => rmSync(samples, { recursive: true }));
await cp(process.env.SAMPLES, samples, { recursive: true });
/** Characters that some programs encode in URLs and others do not. */
const NAME = "black & white, 50% #1 (old)?.jpg";
await copyFile(join(samples, "photos/otter.jpg"), join(samples, NAME));
const andon = await server(["play", samples, "--listen", "127.0.0.1:0"]);
const chromium = await browser();

/** Opens the page with an image and a recipe, and waits until the result is shown and scored. */
async function playground(recipe, options) {
  const hash = new URLSearchParams({ image: "/photos/otter.jpg", recipe });
  const opened = await open(chromium, `${andon.address}/_andon/play#${hash}`, options);
  await settled(opened.page);
  return opened;
}

const settled = (page) => until(page, () =>
  !document.body.dataset.busy && /\d|–/.test(document.getElementById("score")?.textContent ?? ""));

/** Waits until the image that is shown is the result of this recipe. */
async function shows(page, recipe) {
  await until(page, (it) => new URLSearchParams(location.hash.slice(1)).get("recipe") === it, recipe);
  await settled(page);
}

/** Returns the bytes of the result that the page shows. */
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
      for (const mode of ["slider", "difference", "against", "frame"]) {
        await page.check(`input[value=${mode}]`);
        await until(page, () => document.querySelector("#stage .view, #stage .marked"));
        await isAccessible(page);
        await fits(page);
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
    // Moves the step before the scaling, by the step's own button.
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
  await page.check("#steps li:last-child input[value=png]");
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
  await shows(page, "cover:120x90:enlarge,profile:srgb,as:webp,q:70");
  assert.equal(await page.inputValue("#images"), "/jpeg/420.jpg");
  assert.match(await page.textContent("#read-said"), /^imgproxy reads /);
  isQuiet(["400 (Bad Request)"]);
  await close();
}]);

tests.push(["an image of one's own is rendered as one of the folder is", async () => {
  const { page, isQuiet, close } = await playground("fit:150x150,as:jpeg,q:70", {});
  const before = await shown(page);
  await page.setInputFiles("#file", `${samples}/photos/otter.jpg`);
  await until(page, () => location.hash.includes("file=otter.jpg"));
  await settled(page);
  assert.deepEqual(await shown(page), before);
  assert.match(await page.textContent("#urls"), /otter.jpg is not there/);
  assert.match(await page.textContent("#copy-note"), /otter.jpg is not on this server/);
  assert.equal(await page.inputValue("#images"), "", "no image of the folder is named beside it");
  assert.equal(await page.locator("#urls a").count(), 0, "no URL of an image that is not there is opened");
  isQuiet();
  await close();
}]);

tests.push(["another image has no comparisons of the last one, and any name a loader", async () => {
  const { page, isQuiet, close } = await playground("fit:60x60,as:webp", {});
  const hints = () => page.evaluate(() => ["four-said", "curves-said"].map((id) => document.getElementById(id).textContent));
  const before = await hints();
  await page.uncheck("#curve-formats input[value=avif]");
  await page.click("#measure");
  await until(page, () => document.querySelectorAll("#curves circle").length === 12);
  await page.evaluate((image) => { location.hash = new URLSearchParams({ image, recipe: "fit:60x60,as:webp" }); }, `/${NAME}`);
  await until(page, () => document.getElementById("copy-text").textContent.includes("black%20"));
  await settled(page);
  assert.equal(await page.locator("#curves circle").count(), 0);
  assert.deepEqual(await hints(), before);
  await page.selectOption("#copy-form", "Next.js loader");
  assert.ok((await page.textContent("#copy-text")).includes(`\`${andon.address}/r/fit:`));
  await page.selectOption("#copy-form", "nginx");
  assert.ok((await page.textContent("#copy-text")).includes(`proxy_pass ${andon.address}/r/fit:60x60,as:webp/;`));
  isQuiet();
  await close();
}]);

tests.push(["errors of the server are shown as they are, beside the last good image", async () => {
  const { page, isQuiet, close } = await playground("fit:300x300", {});
  const good = await shown(page);
  await page.fill("#recipe", "fit:wide");
  await until(page, () => document.getElementById("recipe-error").textContent !== "");
  const response = await fetch(`${andon.address}/_andon/play/plan?recipe=fit:wide&source=/photos/otter.jpg`);
  assert.equal(await page.textContent("#recipe-error"), `${response.status}: ${(await response.text()).trim()}`);
  await page.fill("#recipe", "fit:60000x60000:enlarge");
  await until(page, () => document.querySelector("#plan .error")?.textContent.startsWith("422"));
  await until(page, () => document.getElementById("result-error").textContent.startsWith("422"));
  assert.deepEqual(await shown(page), good, "the last good image stays");
  assert.match(await page.textContent("#stale"), /last good result, of fit:300x300 /);
  await page.fill("#recipe", "fit:200x200");
  await shows(page, "fit:200x200");
  assert.ok(await page.isHidden("#trouble"));
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
  assert.deepEqual(forms, ["URL", "picture", "recipe", "curl", "Next.js loader", "img", "srcset", "PHP", "Python", "nginx"]);
  for (const form of forms) {
    await page.selectOption("#copy-form", form);
    const text = await page.textContent("#copy-text");
    const part = { nginx: url.replace("photos/otter.jpg", ""), recipe: "fit:100x100,as:webp", "Next.js loader": `${andon.address}/r/fit:` }[form] ?? url;
    assert.ok(text.includes(part), `${form}: ${text}`);
  }
  await page.selectOption("#copy-form", "picture");
  assert.match(await page.textContent("#copy-text"), /<img src="[^"]*\/r\/fit:100x100,as:auto\/photos\/otter\.jpg"/);
  assert.match(await page.textContent("#copy-note"), /Only this machine reaches/);
  await page.selectOption("#copy-form", "srcset");
  assert.match(await page.textContent("#copy-text"), /dpr:2,fit:100x100,as:webp\/photos\/otter\.jpg 2x/);
  isQuiet();
  await close();
}]);

tests.push(["a loader for Next.js asks for the recipe at any width, in its shape", async () => {
  const { page, isQuiet, close } = await playground("gray,cover:400x300,q:60", {});
  await page.selectOption("#copy-form", "Next.js loader");
  const text = await page.textContent("#copy-text");
  const { default: loader } = await import(`data:text/javascript,${encodeURIComponent(text)}`);
  for (const [width, quality, recipe] of [[640, undefined, "gray,cover:640x480,as:auto,q:60"], [100, 90, "gray,cover:100x75,as:auto,q:90"]]) {
    const url = loader({ src: "/photos/otter.jpg", width, quality });
    assert.equal(url, `${andon.address}/r/${recipe}/photos/otter.jpg`);
    assert.equal((await fetch(url)).status, 200, url);
  }
  for (const src of [`/${encodeURIComponent(NAME)}`, "photos/otter.jpg?v=2"]) {
    assert.equal((await fetch(loader({ src, width: 50 }))).status, 200, src);
  }
  isQuiet();
  await close();
}]);

tests.push(["a loader for Next.js that changes nothing but the size leaves SVG as it is", async () => {
  const { page, isQuiet, close } = await playground("fit:400x300,q:60", {});
  await page.selectOption("#copy-form", "Next.js loader");
  const text = await page.textContent("#copy-text");
  const { default: loader } = await import(`data:text/javascript,${encodeURIComponent(text)}`);
  assert.equal(loader({ src: "/a%20b.svg?v=2", width: 640 }), `${andon.address}/r/original/a%20b.svg`);
  isQuiet();
  await close();
}]);

tests.push(["a reload, the back button and a link to somebody else show the same image, recipe and view", async () => {
  const { page, isQuiet, close } = await playground("fit:300x300", {});
  // Changes that follow each other quickly form one undo step.
  await page.waitForTimeout(2000);
  await page.selectOption("#images", "/jpeg/420.jpg");
  await page.fill("#recipe", "fit:120x120,gray");
  await shows(page, "fit:120x120,gray");
  await page.check("input[value=slider]");
  await page.reload();
  await settled(page);
  assert.equal(await page.inputValue("#recipe"), "fit:120x120,gray");
  assert.equal(await page.inputValue("#images"), "/jpeg/420.jpg");
  assert.ok(await page.isChecked("input[value=slider]"));
  const sent = await open(chromium, page.url());
  await settled(sent.page);
  assert.deepEqual(await shown(sent.page), await shown(page));
  await sent.close();
  await page.goBack();
  await shows(page, "fit:300x300");
  assert.equal(await page.inputValue("#recipe"), "fit:300x300");
  assert.equal(await page.inputValue("#images"), "/photos/otter.jpg");
  await page.goForward();
  await shows(page, "fit:120x120,gray");
  assert.equal(await page.inputValue("#images"), "/jpeg/420.jpg");
  isQuiet();
  await close();
}]);

/** Returns the recipe of the page once no request is pending. */
const recipeOf = async (page) => {
  await until(page, () => new URLSearchParams(location.hash.slice(1)).get("recipe") === document.getElementById("recipe").value);
  await settled(page);
  return page.inputValue("#recipe");
};

tests.push(["crop and focus point are moved with the keyboard alone", async () => {
  const { page, isQuiet, close } = await playground("cover:300x300", {});
  await tabTo(page, "#modes input");
  await page.keyboard.press("ArrowLeft");
  await until(page, () => document.querySelector(".marked img")?.naturalWidth > 0);
  await tabTo(page, "#has-crop");
  await page.keyboard.press("Space");
  await tabTo(page, "#has-focus");
  await page.keyboard.press("Space");
  await until(page, () => document.querySelectorAll(".marked button:not([hidden])").length === 2);
  await tabTo(page, ".mark-crop");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Shift+ArrowUp");
  await tabTo(page, ".mark-focus");
  await page.keyboard.press("ArrowDown");
  assert.equal(await recipeOf(page), "focus:50%:51%,crop:11%:10%:80%x79%,cover:300x300");
  await isAccessible(page);
  await page.keyboard.press("Delete");
  assert.equal(await recipeOf(page), "crop:11%:10%:80%x79%,cover:300x300");
  isQuiet();
  await close();
}]);

tests.push(["crop and focus point are drawn and dragged with the mouse, in the unit that the recipe has", async () => {
  const { page, isQuiet, close } = await playground("cover:300x300", { viewport: SIZES[1] });
  await page.check("input[value=frame]");
  await until(page, () => document.querySelector(".marked img")?.naturalWidth > 0);
  const box = await page.locator(".marked").boundingBox();
  const drag = async (...places) => {
    const [from, ...to] = places.map(([x, y]) => [box.x + x * box.width, box.y + y * box.height]);
    await page.mouse.move(...from);
    await page.mouse.down();
    for (const place of to) await page.mouse.move(...place, { steps: 4 });
    await page.mouse.up();
  };
  await drag([0.2, 0.2], [0.6, 0.7]);
  const near = (recipe, pattern, wanted, slack = 0.5) => {
    const found = recipe.match(pattern)?.slice(1).map(Number);
    assert.ok(found?.every((it, at) => Math.abs(it - wanted[at]) <= slack), `${recipe}: ${wanted}`);
  };
  const crop = /crop:([\d.]+)%:([\d.]+)%:([\d.]+)%x([\d.]+)%/;
  near(await recipeOf(page), crop, [20, 20, 40, 50]);
  // Dragging the middle moves the area, dragging a corner resizes it.
  await drag([0.4, 0.4], [0.5, 0.5]);
  near(await recipeOf(page), crop, [30, 30, 40, 50]);
  await drag([0.7, 0.8], [0.8, 0.9]);
  near(await recipeOf(page), crop, [30, 30, 50, 60]);
  await page.fill("#recipe", "focus:800:450,cover:300x300");
  await until(page, () => !document.querySelector(".mark-focus").hidden && document.querySelector(".mark-crop").hidden);
  await recipeOf(page);
  await drag([0.5, 0.5], [0.25, 0.75]);
  near(await recipeOf(page), /focus:(\d+):(\d+)/, [400, 675], 8);
  isQuiet();
  await close();
}]);

tests.push(["four formats are made side by side with bytes and scores, and one becomes the recipe", async () => {
  const { page, isQuiet, close } = await playground("fit:200x200", {});
  await tabTo(page, "#four-run");
  await page.keyboard.press("Enter");
  await until(page, () => document.querySelectorAll("#four .best").length === 1 && !document.getElementById("four-run").disabled);
  const cards = await page.locator("#four figcaption").allTextContents();
  assert.equal(cards.length, 4);
  for (const card of cards) assert.match(card, /(jpeg|webp|avif|jxl|png).* KB.*score \d+\.\d/);
  await tabTo(page, "#four");
  const before = await page.evaluate(() => document.querySelector("#four").style.cssText);
  await page.keyboard.press("ArrowRight");
  assert.notEqual(await page.evaluate(() => document.querySelector("#four").style.cssText), before);
  await isAccessible(page);
  await page.click("#four button[aria-label='Use avif']");
  await shows(page, "fit:200x200,as:avif,score:80");
  isQuiet();
  await close();
}]);

if (process.env.SHOTS) {
  tests.push(["screenshots", async () => {
    for (const viewport of SIZES) {
      for (const colorScheme of ["light", "dark"]) {
        const { page, close } = await playground("fit:800x600,sharpen:0x1,as:webp,q:70", { viewport, colorScheme });
        await page.check("input[value=slider]");
        await page.click("#four-run");
        await until(page, () => document.querySelectorAll("#four .best").length === 1);
        await page.click("#measure");
        await until(page, () => document.querySelectorAll("#curves circle").length === 18);
        await page.click("#uncached");
        await until(page, () => document.getElementById("time").textContent.includes("past the cache"));
        await page.mouse.move(0, 0);
        const path = `${process.env.SHOTS}/play-${viewport.width}-${colorScheme}`;
        await page.screenshot({ path: `${path}.png` });
        await page.screenshot({ path: `${path}-full.png`, fullPage: true });
        await page.fill("#recipe", "crop:30%:15%:60%x70%,focus:45%:45%,cover:500x500,as:webp,q:70");
        await page.check("input[value=frame]");
        await until(page, () => document.querySelector(".made img"));
        await settled(page);
        await page.fill("#recipe", "crop:30%:15%:60%x70%,focus:45%:45%,cover:500x500,as:webp,q:700");
        await until(page, () => document.body.classList.contains("stale"));
        await page.screenshot({ path: `${path}-crop.png`, fullPage: viewport.width < 600 });
        await close();
      }
    }
  }]);
}

await run(tests);
await chromium.close();
andon.stop();
