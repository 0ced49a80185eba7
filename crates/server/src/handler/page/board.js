// The board: the state of the server, twice a second, and its last 15 minutes.

import { alarms } from "./alarms.js";
import { Charts, SPAN } from "./charts.js";
import { byId, bytes, make, millis, table } from "./dom.js";

const KEY = "andon-token";
const PRICE = "andon-price";
const AGAIN = 1000;
/** How far back failures of origins count, in milliseconds. */
const RECENT = 5 * 60_000;
/** Seconds of history from which a month is estimated. */
const ENOUGH = 300;

const rate = (count) => (count < 10 ? count.toFixed(1) : String(Math.round(count)));
const per = (index) => (sample) => sample.requests[index] / sample.seconds;
const found = (index) => (sample) => sample.lookups[index] / sample.seconds;
const charts = new Charts([
  { id: "outcomes", name: "Requests a second", stacked: true, top: 1, text: rate, axis: rate,
    series: [{ name: "2xx", kind: "good", of: per(0) }, { name: "3xx", kind: "calm", of: per(1) }, { name: "4xx", kind: "warn", of: per(2) }, { name: "5xx", kind: "bad", of: per(3) }, { name: "client left", kind: "gone", of: per(4) }] },
  { id: "latency", name: "Milliseconds to the reply", log: 0.1, top: 10, text: millis, axis: (value) => (value < 1 ? value.toFixed(1) : value < 1000 ? String(Math.round(value)) : `${Math.round(value / 1000)} s`),
    series: [{ name: "p50", kind: "good", of: ({ ms }) => ms[0] }, { name: "p95", kind: "calm", of: ({ ms }) => ms[1] }, { name: "p99", kind: "warn", of: ({ ms }) => ms[2] }] },
  { id: "cores", name: "CPU and queue", top: 1, text: rate, axis: rate,
    series: [{ name: "worker threads busy", kind: "good", of: ({ threads }) => threads }, { name: "cores of this process", kind: "calm", of: ({ cores }) => cores }, { name: "images in the queue", kind: "warn", of: ({ waiting }) => waiting }] },
  { id: "lookups", name: "Look-ups in the cache a second", stacked: true, top: 1, text: rate, axis: rate,
    series: [{ name: "hits", kind: "good", of: found(0) }, { name: "stale", kind: "calm", of: found(1) }, { name: "misses", kind: "warn", of: found(2) }] },
]);

let samples = [];
let step = 5000;
/** Counts of the origins at earlier moments. */
let former = [];

watch();

byId("token").addEventListener("submit", (event) => {
  event.preventDefault();
  sessionStorage.setItem(KEY, byId("token-text").value);
  byId("token").hidden = true;
  watch();
});

/** Reads events until the server ends them, and comes again. */
async function watch() {
  const token = sessionStorage.getItem(KEY);
  const headers = token ? { Authorization: `Bearer ${token}` } : {};
  try {
    const response = await fetch("/_andon/board/events", { headers });
    if (response.status === 401) {
      byId("token").hidden = false;
      byId("token-text").focus();
      byId("state").textContent = token
        ? "That is not the administrator’s token."
        : "The board needs the administrator’s token.";
      return;
    }
    if (!response.ok) throw new Error((await response.text()).trim());
    await recall(headers);
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      text += value;
      const events = text.split("\n\n");
      text = events.pop();
      for (const event of events) await show(JSON.parse(event.slice("data: ".length)), headers);
    }
    byId("state").textContent = "The server was reloaded or stopped; connecting again …";
  } catch (error) {
    byId("state").textContent = `${error.message}; connecting again …`;
  }
  setTimeout(watch, AGAIN);
}

/** Gets the samples of the last 15 minutes. */
async function recall(headers) {
  const response = await fetch("/_andon/board/history", { headers });
  if (!response.ok) throw new Error((await response.text()).trim());
  const told = await response.json();
  [samples, step] = [told.samples, told.step_ms];
  charts.show(samples, step);
}

/** Adds the newest sample. */
async function remember(last, headers) {
  const before = samples.at(-1)?.at ?? 0;
  if (!last || last.at <= before) return;
  if (before && last.at - before > 1.5 * step) return recall(headers);
  samples = [...samples.filter(({ at }) => at > last.at - SPAN), last];
  charts.show(samples, step);
}

async function show(told, headers) {
  await remember(told.last, headers);
  byId("version").textContent = told.version;
  const wrong = alarms(told, samples, failures(told.origins));
  byId("state").textContent = "Live";
  document.title = wrong.length ? `(${wrong.length}) Andon board` : "Andon board";
  replaced("alarms", wrong.length ? wrong.map(alarm) : [make("li", { className: "good" }, make("b", {}, "All is well"), make("span", {}, "Nothing was rejected, and nothing fails."))]);
  numbers(told);
  workers(told.workers);
  byId("processes").textContent = processes(told.processes);
  byId("memory").value = told.memory.budget ? told.memory.reserved / told.memory.budget : 0;
  byId("memory-said").textContent = `${bytes(told.memory.reserved)} of ${bytes(told.memory.budget)}`;
  tables(told);
}

const alarm = ({ level, title, out, page }) => make("li", { className: level }, make("b", {}, title), make("span", {}, out, " ",
  make("a", { href: `/_andon/board/docs/${page}`, target: "_blank" }, `More in ${page}`)));

/** What came of the fetches of each origin in the last minutes. */
function failures(origins) {
  const now = performance.now();
  const counts = new Map(origins.map(({ name, good, missing, failed }) => [name, { failed, all: good + missing + failed }]));
  former = [...former.filter(({ at }) => at > now - RECENT), { at: now, counts }];
  return [...counts].map(([name, { failed, all }]) => {
    const then = former[0].counts.get(name) ?? { failed: 0, all: 0 };
    // A reload lets them start anew.
    return then.all > all ? { name, failed, all } : { name, failed: failed - then.failed, all: all - then.all };
  });
}

/** The numbers on top, of the last minute, and what was saved. */
function numbers({ queue, metrics }) {
  const minute = samples.slice(-12);
  const total = (of) => minute.reduce((sum, it) => sum + of(it), 0);
  const seconds = total((it) => it.seconds) || 1;
  const [hits, lookups] = [total(({ lookups: [hit, stale] }) => hit + stale), total((it) => it.lookups.reduce((a, b) => a + b))];
  const p95 = minute.map(({ ms }) => ms[1]).filter((it) => it !== null);
  const all = [
    ["Requests a second", rate(total((it) => it.requests.reduce((a, b) => a + b)) / seconds)],
    ["p95", p95.length ? millis(Math.max(...p95)) : "–"],
    ["Hit rate", lookups ? `${((hits / lookups) * 100).toFixed(0)} %` : "–"],
    ["Waiting", String(queue.waiting)],
    ["Predicted delay", millis(queue.delay_ms)],
    ["Connections", String(metrics.connections)],
  ];
  replaced("load", all.map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
  saved(metrics);
}

/** Bytes of results beside those of their originals, and what the difference costs at the price of the page. */
function saved({ dialects, up_s: up }) {
  const total = (name) => dialects.reduce((sum, it) => sum + it[name], 0);
  const [sent, source] = [total("result_bytes"), total("source_bytes")];
  const price = Number(byId("price").value) || 0;
  const money = (bytes) => `$${((bytes / 1e9) * price).toFixed(2)}`;
  const recent = samples.reduce((sum, it) => sum + it.source_bytes - it.result_bytes, 0);
  const seconds = samples.reduce((sum, it) => sum + it.seconds, 0);
  const signed = (count) => (count < 0 ? `−${bytes(-count)}` : bytes(count));
  replaced("saved", [
    ["Originals", bytes(source)], ["Sent", bytes(sent)],
    [source ? `Saved, ${((1 - sent / source) * 100).toFixed(0)} %` : "Saved", signed(source - sent)],
    ["Worth", money(source - sent)],
    ["A month, as in the last minutes", seconds >= ENOUGH ? money((recent / seconds) * 86_400 * 30) : "–"],
  ].map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, value))));
  byId("saved-said").textContent = `Since the server started, ${ago(up)} ago: every whole result that was sent, beside the file that it was made from.`;
}

const ago = (seconds) => (seconds < 120 ? `${seconds} s` : seconds < 7200 ? `${Math.round(seconds / 60)} minutes` : `${Math.round(seconds / 3600)} hours`);

byId("price").value = localStorage.getItem(PRICE) ?? byId("price").value;
byId("price").addEventListener("input", () => localStorage.setItem(PRICE, byId("price").value));

function tables(told) {
  const ratio = (one, all) => (all ? `${((one / all) * 100).toFixed(1)} %` : "–");
  fill("tiers", table("Cache", ["Tier", "Hits", "Stale", "Misses", "Hit rate", "Entries", "Bytes"], told.tiers.map((it) =>
    [it.name, String(it.hits), String(it.stale), String(it.misses), ratio(it.hits, it.hits + it.stale + it.misses), String(it.entries), `${bytes(it.bytes)} of ${bytes(it.limit)}`])));
  const rejections = told.rejections.filter(({ count }) => count);
  fill("rejections", rejections.length
    ? table("Rejections", ["Cause", "Count", "Advice"], rejections.map((it) => [it.cause, String(it.count), make("span", { className: "soft" }, it.advice)]))
    : make("p", { className: "soft" }, "None."));
  fill("origins", table("Origins", ["Origin", "Good", "Missing", "Failed", "Received", "Busy"], told.origins.map((it) =>
    [it.name, String(it.good), String(it.missing), marked(it.failed), bytes(it.bytes), it.slots === null ? "–" : `${it.busy} of ${it.slots}`])));
  fill("dialects", told.metrics.dialects.length
    ? table("Dialects", ["Dialect", "Requests", "Errors", "Sent", "Originals", "Saved"], told.metrics.dialects.map((it) =>
      [it.name, String(it.requests), marked(it.errors), bytes(it.bytes), it.source_bytes ? bytes(it.source_bytes) : "–", ratio(it.source_bytes - it.result_bytes, it.source_bytes)]))
    : make("p", { className: "soft" }, "No image was asked for yet."));
  fill("errors", told.metrics.errors.length
    ? table("Errors", ["Cause", "Fault", "Count"], told.metrics.errors.map(([cause, fault, count]) => [cause, fault, String(count)]))
    : make("p", { className: "soft" }, "None."));
  const { done, refused, failed } = told.metrics.reloads;
  byId("reloads").textContent = `Reloads: ${done} done, ${refused} refused${failed ? "; the last one was refused, the log says why" : ""}.`;
  fill("slowest", told.slowest.length
    ? table("Slowest requests", ["URL", "Status", "Time", "Ago", "Stages"], told.slowest.map((it) => [
      make("span", { className: "mono" }, it.target), String(it.status), millis(it.ms), `${it.ago_s} s`,
      make("span", { className: "soft" }, it.stages.map(([name, time]) => `${name} ${millis(time)}`).join(", "))]))
    : make("p", { className: "soft" }, "None yet."));
}

/** A count that is a bad sign unless it is 0. */
const marked = (count) => make("span", { className: count ? "bad" : "" }, String(count));

/** Replaces the children of an element only if they say something else, so that a link keeps the focus. */
function replaced(id, children) {
  const said = children.map((it) => it.outerHTML).join("");
  if (byId(id).innerHTML !== said) byId(id).replaceChildren(...children);
}

const fill = (id, ...children) => byId(id).replaceChildren(...children);

function workers(all) {
  fill("workers", ...all.map((work, index) => {
    const name = make("b", {}, `Worker ${index + 1}`);
    if (!work) return make("li", {}, name, make("span", {}, "idle"));
    name.append(make("span", {}, millis(work.age_ms)));
    const along = work.along ? ` and ${work.along} more` : "";
    return make("li", { className: "busy" }, name, make("span", {}, work.plan ? work.plan + along : work.job));
  }));
}

function processes(told) {
  if (!told) return "No worker processes: sandbox.processes is \"none\".";
  const died = told.deaths.filter(([, count]) => count).map(([cause, count]) => `${count} by ${cause}`);
  return [
    `Worker processes: ${told.busy} busy, ${told.idle} idle, ${bytes(told.resident)}, ${told.jobs} jobs`,
    died.length ? `ended before their time: ${died.join(", ")}` : "none ended before its time",
    told.suspects ? `${told.suspects} files suspected` : "no file suspected",
  ].join("; ") + ".";
}
