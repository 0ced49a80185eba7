// The playground: an image, a recipe, and what comes of them.

import { ask, askJson, get, ServerError, stages, token } from "./server.js";
import { Builder } from "./recipe.js";
import { Viewer } from "./viewer.js";
import * as panels from "./panels.js";
import { byId, bytes, make, millis } from "./dom.js";

/** A recipe to begin with. */
const FIRST = "fit:600x600,as:webp,q:80";
/** What takes longer by the plan, in nanoseconds, waits for the button. */
const AT_ONCE = 2e9;
/** Milliseconds without a change after which the server is asked. */
const PAUSE = 200;
const QUALITIES = [30, 45, 60, 70, 80, 90];

const page = { image: null, recipe: FIRST, told: null, result: null, work: new AbortController(), timer: 0 };
let builder;
const viewer = new Viewer(original, fail);

start();

async function start() {
  const kept = new URLSearchParams(location.hash.slice(1));
  if (kept.has("token")) {
    token.set(kept.get("token"));
    kept.delete("token");
    history.replaceState(null, "", `#${kept}`);
  }
  try {
    const words = await askJson("words");
    byId("token").hidden = true;
    byId("version").textContent = words.version;
    builder = new Builder(words, byId("steps"), byId("add"), (text) => { byId("recipe").value = text; changed(text); });
    builder.renderChoices();
    await images(kept.get("image"));
    chooseFormats(words.formats);
    byId("copy-form").replaceChildren(...Object.keys(panels.COPIES).map((name) => make("option", {}, name)));
    adopt(kept.get("recipe") ?? FIRST);
  } catch (error) {
    if (error.status === 401) askForToken();
    fail(error);
  }
}

function askForToken() {
  byId("token").hidden = false;
  byId("token-text").focus();
}

byId("token").addEventListener("submit", (event) => {
  event.preventDefault();
  token.set(byId("token-text").value);
  byId("result-error").textContent = "";
  start();
});

/** The images of the folder; `wanted` is shown even if it is not among the first. */
async function images(wanted) {
  const found = (await askJson("images")).images.map((path) => `/${path}`);
  if (wanted && !found.includes(wanted)) found.unshift(wanted);
  byId("images").replaceChildren(...found.map((path) => make("option", {}, path)));
  if (found.length === 0) throw new Error("There are no images in the folder: choose or drop one.");
  byId("images").value = wanted ?? found[0];
  page.image = { source: byId("images").value };
}

byId("images").addEventListener("change", () => {
  byId("file").value = "";
  page.image = { source: byId("images").value };
  changed(page.recipe);
});

byId("file").addEventListener("change", () => drop(byId("file").files[0]));

function drop(file) {
  if (!file) return;
  page.image = { source: `/${file.name}`, file };
  changed(page.recipe);
}

for (const [name, over] of [["dragover", true], ["dragleave", false], ["drop", false]]) {
  addEventListener(name, (event) => {
    event.preventDefault();
    document.body.classList.toggle("dropping", over);
    if (name === "drop") drop(event.dataTransfer.files[0]);
  });
}

byId("recipe").addEventListener("input", () => changed(byId("recipe").value, true));
byId("add-button").addEventListener("click", () => builder.addChosen());
byId("run").addEventListener("click", () => run());
byId("uncached").addEventListener("click", () => again());
byId("measure").addEventListener("click", () => measure());

/** Takes a recipe from elsewhere: its controls are made anew. */
function adopt(recipe) {
  byId("recipe").value = recipe;
  changed(recipe, true);
}

/** The recipe or the image is another one. `rebuild` says that the controls do not show it yet. */
function changed(recipe, rebuild = false) {
  page.recipe = recipe;
  page.work.abort();
  page.work = new AbortController();
  clearTimeout(page.timer);
  byId("copy-said").textContent = "";
  page.timer = setTimeout(() => guarded(() => explain(rebuild)), PAUSE);
}

/** Runs, and shows its errors; what was given up is none. */
async function guarded(work) {
  document.body.dataset.busy = "yes";
  try {
    await work();
  } catch (error) {
    fail(error);
  } finally {
    delete document.body.dataset.busy;
  }
}

function fail(error) {
  if (error.name === "AbortError") return;
  byId("result-error").textContent = error.message;
}

async function explain(rebuild) {
  const { signal } = page.work;
  const { recipe, image } = page;
  let told;
  try {
    told = await askJson("plan", { recipe, image, signal });
    byId("recipe-error").textContent = "";
  } catch (error) {
    if (!(error instanceof ServerError) || error.status === 401) throw error;
    byId("recipe-error").textContent = error.message;
    return;
  }
  page.told = told;
  if (rebuild) builder.show(told.pieces);
  history.replaceState(null, "", `#${new URLSearchParams({ image: image.source, recipe })}`);
  if (byId("read-dialect").options.length === 1) byId("read-dialect").append(...told.urls.map(({ dialect }) => make("option", {}, dialect)));
  byId("urls").replaceChildren(panels.urls(told.urls));
  byId("plan").replaceChildren(panels.plan(told.plan));
  copied();
  const cost = told.plan.nanos;
  byId("run").textContent = cost > AT_ONCE ? `Run (about ${millis(cost / 1e6)})` : "Run";
  byId("result-error").textContent = "";
  if (told.plan.error || cost <= AT_ONCE) await run();
}

/** Gets the result by its URL; that of an image of one's own, or without a URL, from the playground. */
async function run() {
  const { signal } = page.work;
  const { told, image, recipe } = page;
  byId("result-error").textContent = "";
  byId("facts").replaceChildren();
  let response;
  const began = performance.now();
  try {
    response = image.file || !told.url ? await ask("render", { recipe, image, signal }) : await get(told.url, signal);
  } catch (error) {
    if (error instanceof ServerError) {
      await viewer.show(null);
      byId("time").replaceChildren();
    }
    throw error;
  }
  const blob = await response.blob();
  const took = performance.now() - began;
  if (signal.aborted) return;
  page.result = blob;
  await viewer.show(blob);
  const status = response.headers.get("cache-status");
  const cache = status && (status.includes("; hit") ? "hit" : "miss");
  byId("time").replaceChildren(panels.waterfall(stages(response), cache === "hit" ? "A cached result" : "Made for this request"));
  await facts(blob, cache, took, signal);
}

async function facts(blob, cache, took, signal) {
  const { source, result } = page.told.plan;
  const score = make("dd", { id: "score" }, "…");
  const fact = (name, value) => make("div", {}, make("dt", {}, name), value instanceof Node ? value : make("dd", {}, value));
  const share = source ? `, ${((blob.size / source.bytes) * 100).toPrecision(3)} %` : "";
  const shown = [
    fact("Bytes", make("dd", { id: "bytes" }, bytes(blob.size) + share)),
    fact("Size", result ? `${result.width} × ${result.height}` : "–"),
    fact("Type", blob.type),
    fact("SSIMULACRA2", score),
    fact("Round trip", millis(took)),
  ];
  if (cache) shown.push(fact("Cache", cache));
  byId("facts").replaceChildren(...shown);
  try {
    const scored = await askJson("score", { recipe: page.recipe, image: page.image, signal });
    score.textContent = `${scored.score.toFixed(1)} of 100`;
  } catch (error) {
    if (error.name === "AbortError") return;
    score.textContent = "–";
    score.title = error.message;
  }
}

/** The blob of what the result is compared with. */
async function original(kind) {
  const { image, told } = page;
  if (kind === "source") return image.file ?? (await ask("render", { recipe: "original", image })).blob();
  return (await ask("render", { recipe: told.plan.reference, image })).blob();
}

async function again() {
  await guarded(async () => {
    const response = await ask("render", { recipe: page.recipe, image: page.image, signal: page.work.signal });
    await response.blob();
    byId("time").replaceChildren(panels.waterfall(stages(response), "Made again, past the cache"));
  });
}

byId("read").addEventListener("submit", async (event) => {
  event.preventDefault();
  const said = byId("read-said");
  try {
    const read = await askJson("read", { url: byId("read-url").value, dialect: byId("read-dialect").value });
    const but = [...read.but.map((it) => `but ${it}`), ...read.notes].join("; ");
    said.className = "";
    said.textContent = `${read.dialect} reads ${read.reads}${but ? ` (${but})` : ""}`;
    if (!page.image?.file) {
      if (![...byId("images").options].some(({ value }) => value === read.source)) byId("images").prepend(make("option", {}, read.source));
      byId("images").value = read.source;
      page.image = { source: read.source };
    }
    adopt(read.recipe);
  } catch (error) {
    said.className = "error";
    said.textContent = error.message;
  }
});

/** Formats that have qualities can be measured. */
function chooseFormats(formats) {
  const lossy = formats.filter(({ options }) => options.some(({ name }) => name === "q"));
  const box = ({ name }) => make("label", {}, make("input", { type: "checkbox", value: name, checked: ["jpeg", "webp", "avif"].includes(name) }), ` ${name}`);
  byId("curve-formats").replaceChildren(byId("curve-formats").firstElementChild, ...lossy.map(box));
}

async function measure() {
  const button = byId("measure");
  const { signal } = page.work;
  const { image } = page;
  const steps = page.told.recipe.split(",").filter((piece) => !/^(as|q|max|score|lossless|moving|with|same)(:|$)/.test(piece));
  const formats = [...byId("curve-formats").querySelectorAll("input:checked")].map(({ value }) => value);
  const points = [];
  button.disabled = true;
  try {
    for (const quality of QUALITIES) {
      for (const format of formats) {
        const recipe = [...steps, `as:${format}`, `q:${quality}`].join(",");
        byId("curves-said").textContent = `Measuring ${format} at ${quality} …`;
        const scored = await askJson("score", { recipe, image, signal });
        points.push({ format, quality, recipe, bytes: scored.bytes, score: scored.score, time: scored.stages_ms.encode ?? 0 });
        byId("curves").replaceChildren(panels.curves(points, (point) => adopt(point.recipe)));
      }
    }
    byId("curves-said").textContent = `Higher and further left is better. Each was made of ${steps.join(",") || "the image"}.`;
  } catch (error) {
    byId("curves-said").textContent = error.name === "AbortError" ? "Stopped: the recipe has changed." : error.message;
  } finally {
    button.disabled = false;
  }
}

byId("copy-form").addEventListener("change", () => copied());

/** The text to copy. */
function copied() {
  const { told, image } = page;
  const text = byId("copy-text");
  if (!told?.url) {
    text.textContent = "This server has no URL for this recipe.";
    return;
  }
  const full = (url) => location.origin + url;
  const path = image.source.split("/").map(encodeURIComponent).join("/");
  const { result } = told.plan;
  text.textContent = panels.COPIES[byId("copy-form").value]({
    url: full(told.url),
    base: told.url.endsWith(path) ? full(told.url.slice(0, -path.length)) + "/" : null,
    size: result ? `width="${result.width}" height="${result.height}"` : "",
    densities: told.densities.map((it) => ({ ...it, url: full(it.url) })),
    formats: told.formats.map((it) => ({ ...it, url: full(it.url) })),
    file: `image.${result ? result.format.replace("jpeg", "jpg") : "jpg"}`,
  });
}

byId("copy").addEventListener("click", async () => {
  try {
    await navigator.clipboard.writeText(byId("copy-text").textContent);
    byId("copy-said").textContent = "Copied.";
  } catch {
    getSelection().selectAllChildren(byId("copy-text"));
    byId("copy-said").textContent = "Selected: copy it with the keyboard.";
  }
});
