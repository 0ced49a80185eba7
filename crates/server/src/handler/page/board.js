// The board: the state of the server, twice a second.

import { byId, bytes, draw, make, millis, table } from "./dom.js";

const KEY = "andon-token";
/** Points of the curve: two minutes. */
const POINTS = 240;
const AGAIN = 1000;
/** Between two events, in milliseconds. */
const EVERY = 500;

const rates = [];
let before = null;

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
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    let text = "";
    for (;;) {
      const { value, done } = await reader.read();
      if (done) break;
      text += value;
      const events = text.split("\n\n");
      text = events.pop();
      for (const event of events) show(JSON.parse(event.slice("data: ".length)));
    }
    byId("state").textContent = "The server was reloaded or stopped; connecting again …";
  } catch (error) {
    byId("state").textContent = `${error.message}; connecting again …`;
  }
  setTimeout(watch, AGAIN);
}

function show(told) {
  byId("version").textContent = told.version;
  byId("state").textContent = "Live";
  workers(told.workers);
  byId("processes").textContent = processes(told.processes);
  const now = performance.now();
  const total = told.metrics.requests.reduce((sum, [, count]) => sum + count, 0);
  if (before) {
    // After a pause the tab is given many events at once.
    const passed = Math.max(now - before.now, EVERY);
    rates.push(Math.max(0, (total - before.total) / (passed / 1000)));
    if (rates.length > POINTS) rates.shift();
  }
  before = { total, now };
  const share = told.memory.budget ? told.memory.reserved / told.memory.budget : 0;
  fill("load", ...[
    ["Waiting", told.queue.waiting], ["Predicted delay", millis(told.queue.delay_ms)],
    ["Connections", told.metrics.connections], ["Responses a second", (rates.at(-1) ?? 0).toFixed(0)],
  ].map(([name, value]) => make("div", {}, make("dt", {}, name), make("dd", {}, String(value)))));
  byId("memory").value = share;
  byId("memory-said").textContent = `${bytes(told.memory.reserved)} of ${bytes(told.memory.budget)}`;
  fill("rate", curve());
  const ratio = (one, all) => (all ? `${((one / all) * 100).toFixed(1)} %` : "–");
  fill("tiers", table("Cache", ["Tier", "Hits", "Stale", "Misses", "Hit rate", "Entries", "Bytes"], told.tiers.map((it) =>
    [it.name, String(it.hits), String(it.stale), String(it.misses), ratio(it.hits, it.hits + it.stale + it.misses), String(it.entries), `${bytes(it.bytes)} of ${bytes(it.limit)}`])));
  fill("rejections", table("Rejections", ["Cause", "Count", "Advice"], told.rejections.map((it) =>
    [it.cause, String(it.count), make("span", { className: "soft" }, it.count ? it.advice : "")])));
  fill("origins", table("Origins", ["Origin", "Good", "Missing", "Failed", "Received", "Busy"], told.origins.map((it) =>
    [it.name, String(it.good), String(it.missing), String(it.failed), bytes(it.bytes), it.slots === null ? "–" : `${it.busy} of ${it.slots}`])));
  fill("errors", told.metrics.errors.length
    ? table("Errors", ["Cause", "Fault", "Count"], told.metrics.errors.map(([cause, fault, count]) => [cause, fault, String(count)]))
    : make("p", { className: "soft" }, "None."));
  const { done, refused, failed } = told.metrics.reloads;
  byId("reloads").textContent = `Reloads: ${done} done, ${refused} refused${failed ? "; the last one was refused, the log says why" : ""}.`;
  fill("slowest", told.slowest.length
    ? table("Slowest requests", ["URL", "Status", "Time", "Stages", "Ago"], told.slowest.map((it) => [
      make("span", { className: "mono" }, it.target), String(it.status), millis(it.ms),
      make("span", { className: "soft" }, it.stages.map(([name, time]) => `${name} ${millis(time)}`).join(", ")), `${it.ago_s} s`]))
    : make("p", { className: "soft" }, "None yet."));
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

function curve() {
  const [width, height] = [480, 120];
  const most = Math.max(...rates, 1);
  const x = (at) => ((at + POINTS - rates.length) / (POINTS - 1)) * width;
  const way = rates.map((rate, at) => `${at ? "L" : "M"}${x(at).toFixed(1)} ${(height - 4 - (rate / most) * (height - 22)).toFixed(1)}`).join("");
  return draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Responses a second: ${(rates.at(-1) ?? 0).toFixed(0)} now, ${most.toFixed(0)} at most` },
    draw("line", { class: "axis", x1: 0, x2: width, y1: height - 4, y2: height - 4 }),
    draw("text", { x: 0, y: 12 }, `${most.toFixed(0)} at most`), draw("path", { d: way }));
}
