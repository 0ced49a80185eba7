// What is told about a recipe: its URLs, its plan, where the time went, and bytes against quality.

import { bytes, draw, make, millis, table } from "./dom.js";

/** The recipe in every dialect. An image of one's own (`file`) has no URL before it is in the folder. */
export function urls(list, file) {
  const rows = list.filter(({ url }) => url).map(({ dialect, url, but, served }) => {
    const text = make("span", { className: "mono" }, url, but.map((it) => make("span", { className: "but" }, `but ${it}`)));
    if (file) return [dialect, text, ""];
    const link = make("a", { href: url, target: "_blank", rel: "noopener" }, "open");
    link.setAttribute("aria-label", `Open the URL of ${dialect}`);
    return [dialect, text, served ? link : make("span", { className: "soft" }, "not served here")];
  });
  const unsaid = list.filter(({ url }) => !url).map(({ dialect, why }) => [dialect, make("span", { className: "soft" }, why), ""]);
  const note = file && make("p", { className: "soft" }, `For an image of this name in the folder: ${file.name} is not there.`);
  const all = table("The recipe in every dialect", ["Dialect", "URL", "Here"], rows);
  if (unsaid.length === 0) return make("div", {}, note, all);
  return make("div", {}, note, all, make("details", {}, make("summary", {}, `${unsaid.length} dialects have no URL for exactly this`),
    table("Why not", ["Dialect", "Why not", ""], unsaid)));
}

/** What will be done, and what it takes. */
export function plan(told) {
  if (told.error) return make("p", { className: "error" }, `${told.status}: ${told.error}`);
  const { source, result } = told;
  const cost = (nanos) => millis(nanos / 1e6);
  const rows = told.steps.map((step) => [make("span", { className: "mono" }, step.text), cost(step.nanos), bytes(step.bytes)]);
  const total = ["As estimated, on one core", cost(told.nanos), bytes(told.peak_bytes)];
  const frames = source.frames > 1 ? `, ${source.frames} frames` : "";
  const lines = [
    ...told.sizes.map((line) => line.replace(/^(\w+) +/, "$1: ")),
    ...told.notes,
    ...told.rules.map(({ name, reason }) => `${name}: ${reason}`),
  ];
  return make("div", {},
    make("p", { className: "plan-text" }, `${source.format} ${source.width} × ${source.height} (${bytes(source.bytes)}${frames}) becomes ${result.format} ${result.width} × ${result.height}, in whole pixels `, make("code", {}, told.recipe)),
    table("The plan", ["Step", "Cost", "Memory"], rows, total),
    lines.length ? make("ul", { className: "notes" }, lines.map((line) => make("li", {}, line))) : null);
}

/** Where the time went. */
export function waterfall(stages, label) {
  const total = stages.reduce((sum, { time }) => sum + time, 0);
  const [left, right, row] = [58, 62, 22];
  const width = 400;
  let past = 0;
  const bars = stages.flatMap(({ name, time }, index) => {
    const scale = (it) => (total ? (it / total) * (width - left - right) : 0);
    const [x, y, w] = [left + scale(past), index * row, Math.max(scale(time), 1)];
    past += time;
    return [
      draw("text", { x: 0, y: y + 15 }, name),
      draw("rect", { class: "bar", x, y: y + 5, width: w, height: 12, rx: 2 }),
      draw("text", { x: Math.min(x + w + 6, width - right + 6), y: y + 15 }, millis(time)),
    ];
  });
  const said = stages.map(({ name, time }) => `${name} ${millis(time)}`).join(", ");
  const drawing = draw("svg", { viewBox: `0 0 ${width} ${Math.max(stages.length, 1) * row}`, role: "img", "aria-label": `Stages: ${said}` }, ...bars);
  return make("div", {}, make("p", { className: "soft" }, `${label}: ${millis(total)}`), drawing);
}

/** Bytes against quality: a line for each format, and the same as a table. */
export function curves(points, use) {
  const formats = [...new Set(points.map(({ format }) => format))];
  const [width, height, left, bottom, top, right] = [400, 270, 30, 44, 10, 44];
  const most = Math.max(...points.map((point) => point.bytes));
  const least = Math.max(-50, Math.floor(Math.min(...points.map(({ score }) => score), 60) / 10) * 10);
  const x = (count) => left + (count / most) * (width - left - right);
  const y = (score) => height - bottom - ((Math.max(score, least) - least) / (100 - least)) * (height - bottom - top);
  const parts = [];
  for (let score = least; score <= 100; score += 100 - least > 80 ? 20 : 10) {
    parts.push(draw("line", { class: "axis", x1: left, x2: width - right, y1: y(score), y2: y(score) }), draw("text", { x: 0, y: y(score) + 4 }, String(score)));
  }
  for (const share of [0, 0.5, 1]) {
    parts.push(draw("text", { x: x(most * share), y: height - 26, "text-anchor": share ? "middle" : "start" }, bytes(Math.round(most * share))));
  }
  parts.push(draw("text", { x: left, y: height - 6 }, "SSIMULACRA2 against bytes"));
  const ends = [];
  formats.forEach((format, index) => {
    const own = points.filter((point) => point.format === format).sort((a, b) => a.bytes - b.bytes);
    const way = own.map((point, at) => `${at ? "L" : "M"}${x(point.bytes).toFixed(1)} ${y(point.score).toFixed(1)}`).join("");
    parts.push(draw("path", { class: `s${index}`, d: way }));
    for (const point of own) {
      const dot = draw("circle", { class: `s${index}`, cx: x(point.bytes), cy: y(point.score), r: 3 });
      dot.append(draw("title", {}, `${format} q${point.quality}: ${bytes(point.bytes)}, ${point.score}`));
      parts.push(dot);
    }
    ends.push({ format, index, y: y(own.at(-1).score) + 4 });
  });
  // Beside the axes, where no line passes.
  let free = 0;
  for (const { format, index, y } of ends.sort((a, b) => a.y - b.y)) {
    const line = Math.max(y, free);
    free = line + 13;
    parts.push(draw("text", { class: `s${index}`, x: width - right + 8, y: line }, format));
  }
  const drawing = draw("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Bytes against quality for ${formats.join(", ")}; the table has the numbers` }, ...parts);
  const rows = points.map((point) => {
    const button = make("button", { type: "button", className: "quiet", onclick: () => use(point) }, "use");
    button.setAttribute("aria-label", `Use ${point.format} at quality ${point.quality}`);
    return [point.format, String(point.quality), bytes(point.bytes), point.score.toFixed(1), millis(point.time), button];
  });
  return make("div", {}, drawing, make("details", {}, make("summary", {}, "Numbers"),
    table("Bytes and quality", ["Format", "q", "Bytes", "Score", "Encoding", ""], rows)));
}
