// The playground: an image, a recipe, and what comes of them.

import { ask, askJson, get, ServerError, stages, token } from "./server.js";
import { Builder } from "./recipe.js";
import { Viewer } from "./viewer.js";
import { COPIES } from "./copies.js";
import { Formats } from "./formats.js";
import { Marks } from "./marks.js";
import * as panels from "./panels.js";
import * as place from "./place.js";
import { byId, bytes, make, millis } from "./dom.js";

/** A recipe to begin with. */
const FIRST = "fit:600x600,as:webp,q:80";
/** What takes longer by the plan, in nanoseconds, waits for the button. */
const AT_ONCE = 2e9;
/** Milliseconds without a change after which the server is asked. */
const PAUSE = 200;
const QUALITIES = [30, 45, 60, 70, 80, 90];

/** Words of a recipe that settle the format and the quality. */
const OUTPUT = /^(as|q|max|score|lossless|moving|with|same)(:|$)/;
/** What the address keeps of the controls beside image and recipe, by their usual values. */
const VIEW = { against: "reference", zoom: "0" };

/** What is said of comparisons before the first. */
const HINTS = ["four-said", "curves-said"].map((id) => [id, byId(id).textContent]);

const page = { image: null, recipe: FIRST, told: null, shown: null, formats: [], work: new AbortController(), timer: 0 };
let builder;
const marks = new Marks(() => builder);
const viewer = new Viewer(original, async () => {
  await marks.show(page.image);
  return marks.element;
}, fail);
const formats = new Formats(adopt);

start();

async function start() {
  const { token: given, ...kept } = place.read();
  if (given) {
    token.set(given);
    place.write(kept);
  }
  try {
    const words = await askJson("words");
    byId("token").hidden = true;
    byId("version").textContent = words.version;
    builder = new Builder(words, byId("steps"), byId("add"), (text) => { byId("recipe").value = text; changed(text); });
    builder.renderChoices();
    await images();
    page.formats = words.formats;
    chooseFormats(words.formats);
    byId("copy-form").replaceChildren(...Object.keys(COPIES).map((name) => make("option", {}, name)));
    restore(kept);
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

/** What the address keeps. An image of one's own has a name there, and nothing else. */
function state() {
  const { image, recipe } = page;
  const view = Object.entries(VIEW).map(([id, usual]) => [id, byId(id).value === usual ? "" : byId(id).value]);
  const mode = viewer.mode === "result" ? "" : viewer.mode;
  return { [image.file ? "file" : "image"]: image.file?.name ?? image.source, recipe, mode, ...Object.fromEntries(view) };
}

/** Shows what the address says. */
function restore({ image, file, recipe, mode, ...kept }) {
  for (const [id, usual] of Object.entries(VIEW)) byId(id).value = kept[id] ?? usual;
  const radio = [...byId("modes").querySelectorAll("input")].find(({ value }) => value === mode);
  (radio ?? byId("modes").querySelector("input")).checked = true;
  const isHere = file && page.image?.file?.name === file;
  byId("file-said").textContent = file && !isHere ? `${file} was an image of somebody's own: choose it again.` : "";
  if (!isHere) choose(image ?? byId("images").options[0]?.value);
  adopt(recipe ?? FIRST);
}

async function images() {
  const found = (await askJson("images")).images.map((path) => `/${path}`);
  byId("images").replaceChildren(...found.map((path) => make("option", {}, path)));
}

/** Takes an image of the server's, even if it is not among the first. */
function choose(source) {
  if (!source) throw new Error("There are no images in the folder: choose or drop one.");
  if (![...byId("images").options].some(({ value }) => value === source)) byId("images").prepend(make("option", {}, source));
  byId("images").value = source;
  take({ source });
}

/** Takes another image, of which nothing was compared or measured yet. */
function take(image) {
  const isOther = image.file || page.image?.file || image.source !== page.image?.source;
  page.image = image;
  if (!isOther) return;
  for (const id of ["four", "curves"]) byId(id).replaceChildren();
  for (const [id, text] of HINTS) byId(id).textContent = text;
}

byId("images").addEventListener("change", () => {
  byId("file").value = "";
  take({ source: byId("images").value });
  changed(page.recipe);
});

byId("file").addEventListener("change", () => drop(byId("file").files[0]));

function drop(file) {
  if (!file) return;
  byId("file-said").textContent = "";
  byId("images").selectedIndex = -1;
  take({ source: `/${file.name}`, file });
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
byId("four-run").addEventListener("click", () => compare());
for (const id of ["modes", "against", "zoom"]) byId(id).addEventListener("change", () => place.write(state()));
place.watch(restore);

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

/** Shows an error above the last good result, which stays. */
function fail(error) {
  if (error.name === "AbortError") return;
  said(error.message, true);
}

const shownAs = (recipe, image) => `${recipe} of ${image.source}`;

function said(error, isStale) {
  byId("result-error").textContent = error;
  byId("stale").hidden = !isStale || !page.shown;
  byId("stale-recipe").textContent = page.shown ?? "";
  byId("trouble").hidden = !error && byId("stale").hidden;
  document.body.classList.toggle("stale", Boolean(isStale && page.shown));
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
    return said("", true);
  }
  page.told = told;
  if (rebuild) builder.show(told.pieces);
  place.write(state());
  if (byId("read-dialect").options.length === 1) byId("read-dialect").append(...told.urls.map(({ dialect }) => make("option", {}, dialect)));
  byId("urls").replaceChildren(panels.urls(told.urls, image.file));
  byId("plan").replaceChildren(panels.plan(told.plan));
  copied();
  const cost = told.plan.nanos;
  byId("run").textContent = cost > AT_ONCE ? `Run (about ${millis(cost / 1e6)})` : "Run";
  if (told.plan.error || cost <= AT_ONCE) return run();
  said("", page.shown !== shownAs(recipe, image));
}

/** Gets the result by its URL; that of an image of one's own, or without a URL, from the playground. */
async function run() {
  const { signal } = page.work;
  const { told, image, recipe } = page;
  const began = performance.now();
  const response = image.file || !told.url ? await ask("render", { recipe, image, signal }) : await get(told.url, signal);
  const blob = await response.blob();
  const took = performance.now() - began;
  if (signal.aborted) return;
  page.shown = shownAs(recipe, image);
  said("", false);
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
    if (!page.image?.file) choose(read.source);
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

/** The words of the recipe that do not settle format and quality. */
const withoutOutput = () => page.told.recipe.split(",").filter((word) => !OUTPUT.test(word));

/** Makes the recipe in four formats. */
async function compare() {
  const [button, note, chosen] = [byId("four-run"), byId("four-said"), byId("four-quality").value];
  const { image, told, work: { signal } } = page;
  const quality = chosen || told.recipe.split(",").find((word) => /^(q|max|score):/.test(word));
  button.disabled = true;
  note.textContent = "Working …";
  try {
    await formats.compare({ steps: withoutOutput(), quality, formats: page.formats, image, signal });
    note.textContent = `Each is ${[...withoutOutput(), quality].filter(Boolean).join(",") || "the image"} at true size. Move the pointer over one to see another part of all.`;
  } catch (error) {
    note.textContent = error.name === "AbortError" ? "Stopped: the recipe has changed." : error.message;
  } finally {
    button.disabled = false;
  }
}

async function measure() {
  const button = byId("measure");
  const { signal } = page.work;
  const { image } = page;
  const steps = withoutOutput();
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

/** The URL up to the image's path, if it ends with that, whichever characters are escaped in it. */
function beforePath(url, source, full) {
  const parts = url.split("/");
  const path = parts.splice(1 - source.split("/").length);
  return decodeURIComponent(`/${path.join("/")}`) === source ? full(`${parts.join("/")}/`) : null;
}

/** The text to copy. */
function copied() {
  const { told, image } = page;
  const text = byId("copy-text");
  byId("copy-note").textContent = noteOnCopies(image);
  if (!told?.url || told.plan.error) {
    text.textContent = told?.plan.error ? "The recipe is refused: mend it first." : "This server has no URL for this recipe.";
    return;
  }
  const full = (url) => location.origin + url;
  const { result } = told.plan;
  text.textContent = COPIES[byId("copy-form").value]({
    url: full(told.url),
    recipe: told.recipe,
    base: beforePath(told.url, image.source, full),
    size: result ? `width="${result.width}" height="${result.height}"` : "",
    densities: told.densities.map((it) => ({ ...it, url: full(it.url) })),
    formats: told.formats.map((it) => ({ ...it, url: full(it.url) })),
    fallback: full(told.fallback ?? told.url),
    file: `image.${result ? result.format.replace("jpeg", "jpg") : "jpg"}`,
  });
}

/** What has to be done before what is copied works elsewhere. */
function noteOnCopies({ file }) {
  const isLocal = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(location.hostname);
  return [
    file ? `${file.name} is not on this server: put it into the folder, or these URLs find no file.` : "",
    isLocal ? `Only this machine reaches ${location.origin}: on a website, put its own address there.` : "",
  ].filter(Boolean).join(" ");
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
