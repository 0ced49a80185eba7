// A server and a browser for tests, and checks that every page has to pass.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

/** The folder in which the packages are installed. */
const require = createRequire(`${process.env.BROWSER_PACKAGES}/`);
const { chromium } = require("playwright-core");
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

/** Options that switch off the browser's own services, which would contact hosts on the internet. */
const FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
  "--disable-background-networking", "--disable-component-update", "--force-color-profile=srgb"];

/** Widths of the window: narrow and wide. */
export const SIZES = [{ width: 390, height: 844 }, { width: 1440, height: 1000 }];

/** Starts the binary and waits for its first line of output, which has its address. `log` is where its log goes. */
export async function server(args, log = "inherit") {
  const child = spawn(process.env.ANDON, args, { stdio: ["ignore", "pipe", log] });
  const [line] = await new Promise((resolve, reject) => {
    createInterface(child.stdout).once("line", (text) => resolve([text]));
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
  const address = line.match(/http:\/\/[\d.]+:\d+/)[0];
  return { address, stop: () => child.kill() };
}

export const browser = () => chromium.launch({ executablePath: process.env.CHROMIUM, args: FLAGS });

/** Opens a page whose console must stay without errors, except those in `expected`, which the test itself causes. */
export async function open(browser, url, options = {}) {
  const context = await browser.newContext(options);
  const page = await context.newPage();
  page.setDefaultTimeout(30_000);
  // The page's policy would prevent tests from fetching the images that it shows.
  await page.addInitScript(() => {
    window.blobs = new Map();
    const make = URL.createObjectURL.bind(URL);
    URL.createObjectURL = (blob) => {
      const url = make(blob);
      window.blobs.set(url, blob);
      return url;
    };
  });
  const errors = [];
  page.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  page.on("pageerror", (error) => errors.push(error.stack));
  await page.goto(url);
  const isQuiet = (expected = []) => {
    const left = errors.filter((error) => !expected.some((it) => error.includes(it)));
    assert.deepEqual(left, [], "errors in the console");
  };
  return { page, isQuiet, close: () => context.close() };
}

/** Checks every rule of axe-core, or only those of a list. */
export async function isAccessible(page, rules) {
  await page.evaluate(AXE);
  const { violations } = await page.evaluate((only) => window.axe.run(only ? { runOnly: only } : {}), rules);
  const told = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html, any }) => `${html.slice(0, 120)} ${any[0]?.message ?? ""}`).join("\n    ")}`);
  assert.deepEqual(told, [], "violations of accessibility");
}

/** Checks that nothing extends beyond the side of the window. */
export async function fits(page) {
  const [content, window] = await page.evaluate(() => [document.scrollingElement.scrollWidth, innerWidth]);
  assert.ok(content <= window, `the page is ${content} px wide in a window of ${window}`);
}

/** Presses Tab until the element has the focus. */
export async function tabTo(page, selector) {
  for (let presses = 0; presses < 200; presses++) {
    if (await page.evaluate((it) => document.activeElement?.matches(it), selector)) return;
    await page.keyboard.press("Tab");
  }
  assert.fail(`Tab does not reach ${selector}`);
}

/** Waits until `look` returns a true value in the page. */
export const until = (page, look, argument) => page.waitForFunction(look, argument);

/** Runs tests one after the other, and prints the result of each. */
export async function run(tests) {
  let failed = 0;
  for (const [name, test] of tests) {
    const began = Date.now();
    try {
      await test();
      console.log(`ok      ${name} (${Date.now() - began} ms)`);
    } catch (error) {
      failed += 1;
      console.log(`FAILED  ${name}\n${error.stack}`);
    }
  }
  process.exitCode = failed ? 1 : 0;
}
