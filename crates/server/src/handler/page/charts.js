// Charts of the last 15 minutes. One cursor, moved by the mouse or by the arrow keys, reads all of them at the same moment.

import { byId, draw, make } from "./dom.js";

/** The time that a chart shows, in milliseconds. */
export const SPAN = 15 * 60_000;
const TICK = 5 * 60_000;
const [HEIGHT, LEFT, RIGHT, TOP, BOTTOM] = [150, 44, 8, 8, 20];

const clock = (at, seconds) => new Date(at).toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", second: seconds ? "2-digit" : undefined });

/** The next of 1, 2, 5, 10, 20 … at or above a number. */
function round(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((it) => it * power).find((it) => it >= value * 0.999);
}

export class Charts {
  /** Each of `all`: the `id` of its place, its `name`, `series` of a name, a class and a value of a sample, `text` for a
   *  value, and whether it is `stacked` or has a logarithmic axis (`log`), and the least `top` of its axis. */
  constructor(all) {
    this.all = all;
    this.samples = [];
    this.step = 5000;
    this.cursor = null;
    for (const chart of all) {
      chart.place = byId(chart.id);
      chart.drawing = make("div", { className: "drawing", tabIndex: 0, role: "group", "aria-label": `${chart.name}: the left and right arrow keys read earlier values` });
      chart.legend = make("ul", { className: "legend" });
      chart.place.replaceChildren(chart.legend, chart.drawing);
      chart.drawing.addEventListener("pointermove", (event) => this.point(this.nearest(event)));
      chart.drawing.addEventListener("pointerleave", () => this.point(null));
      chart.drawing.addEventListener("blur", () => this.point(null));
      chart.drawing.addEventListener("keydown", (event) => this.key(event, chart));
      new ResizeObserver(() => this.render(chart)).observe(chart.drawing);
    }
  }

  show(samples, step) {
    this.samples = samples;
    this.step = step;
    for (const chart of this.all) this.render(chart);
  }

  x(at, width) {
    const end = this.samples.at(-1).at;
    return LEFT + (1 - (end - at) / SPAN) * (width - LEFT - RIGHT);
  }

  nearest({ clientX, currentTarget }) {
    const box = currentTarget.getBoundingClientRect();
    const far = this.samples.map(({ at }) => Math.abs(this.x(at, box.width) - (clientX - box.left)));
    return far.length ? far.indexOf(Math.min(...far)) : null;
  }

  point(index) {
    this.cursor = index;
    byId("when").textContent = index === null ? "" : clock(this.samples[index].at, true);
    for (const chart of this.all) this.render(chart);
  }

  key(event, chart) {
    const by = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity }[event.key];
    if (!by || this.samples.length === 0) return;
    event.preventDefault();
    const last = this.samples.length - 1;
    this.point(Math.min(last, Math.max(0, (this.cursor ?? last) + by)));
    const sample = this.samples[this.cursor];
    const values = chart.series.map(({ name, of }) => `${name} ${this.text(chart, of(sample))}`);
    byId("when").textContent = `${clock(sample.at, true)}: ${values.join(", ")}`;
  }

  text(chart, value) {
    return value === null || value === undefined ? "–" : chart.text(value);
  }

  render(chart) {
    const width = Math.round(chart.drawing.clientWidth);
    const { samples, cursor } = this;
    const shown = samples[cursor ?? samples.length - 1];
    chart.legend.replaceChildren(...chart.series.map(({ name, kind, of }) =>
      make("li", { className: kind }, name, make("b", {}, shown ? this.text(chart, of(shown)) : "–"))));
    if (!width || samples.length === 0) return chart.drawing.replaceChildren(make("p", { className: "soft" }, "The first values come within seconds."));
    const rows = samples.map((sample) => chart.series.map(({ of }) => of(sample)));
    const tops = rows.map((row) => (chart.stacked ? row.reduce((sum, it) => sum + (it ?? 0), 0) : Math.max(...row.map((it) => it ?? 0))));
    const most = round(Math.max(...tops, chart.top));
    const y = (value) => {
      const share = chart.log ? Math.log10(Math.max(value, chart.log) / chart.log) / Math.log10(most / chart.log) : value / most;
      return HEIGHT - BOTTOM - share * (HEIGHT - TOP - BOTTOM);
    };
    const parts = [...this.axes(chart, width, most, y), ...(chart.stacked ? this.areas(chart, rows, width, y) : this.lines(chart, rows, width, y))];
    if (cursor !== null) {
      const x = this.x(samples[cursor].at, width);
      parts.push(draw("line", { class: "cursor", x1: x, x2: x, y1: TOP, y2: HEIGHT - BOTTOM }));
    }
    const now = chart.series.map(({ name, of }) => `${name} ${this.text(chart, of(samples.at(-1)))}`).join(", ");
    chart.drawing.replaceChildren(draw("svg", { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-label": `${chart.name}, last 15 minutes; now ${now}` }, ...parts));
  }

  axes(chart, width, most, y) {
    const parts = [];
    const levels = chart.log ? [most, Math.sqrt(most * chart.log), chart.log] : [most, most / 2, 0];
    for (const level of levels) {
      parts.push(draw("line", { class: "axis", x1: LEFT, x2: width - RIGHT, y1: y(level), y2: y(level) }));
      parts.push(draw("text", { x: LEFT - 6, y: y(level) + 4, "text-anchor": "end" }, chart.axis(level)));
    }
    const end = this.samples.at(-1).at;
    for (let at = Math.ceil((end - SPAN) / TICK) * TICK; at <= end; at += TICK) {
      const x = this.x(at, width);
      parts.push(draw("line", { class: "axis", x1: x, x2: x, y1: HEIGHT - BOTTOM, y2: HEIGHT - BOTTOM + 4 }));
      parts.push(draw("text", { x: Math.min(x, width - 18), y: HEIGHT - 4, "text-anchor": "middle" }, clock(at)));
    }
    return parts;
  }

  /** Runs of samples without a gap, as pairs of first and last index. */
  runs() {
    const runs = [];
    for (const [index, { at }] of this.samples.entries()) {
      const isNext = index > 0 && at - this.samples[index - 1].at < 2.5 * this.step;
      if (isNext) runs.at(-1)[1] = index;
      else runs.push([index, index]);
    }
    return runs;
  }

  way(run, width, value) {
    const points = [];
    for (let index = run[0]; index <= run[1]; index++) {
      const y = value(index);
      if (y !== null) points.push(`${this.x(this.samples[index].at, width).toFixed(1)} ${y.toFixed(1)}`);
    }
    return points;
  }

  lines(chart, rows, width, y) {
    return chart.series.flatMap(({ kind }, at) => this.runs().map((run) => {
      const points = this.way(run, width, (index) => (rows[index][at] === null ? null : y(rows[index][at])));
      return draw("path", { class: `line ${kind}`, d: points.length ? `M${points.join("L")}` : "" });
    }));
  }

  areas(chart, rows, width, y) {
    const below = rows.map(() => 0);
    return chart.series.flatMap(({ kind }, at) => {
      const bottom = [...below];
      for (const [index, row] of rows.entries()) below[index] += row[at] ?? 0;
      const top = [...below];
      return this.runs().map((run) => {
        const there = this.way(run, width, (index) => y(top[index]));
        const back = this.way(run, width, (index) => y(bottom[index])).reverse();
        return draw("path", { class: `area ${kind}`, d: `M${there.join("L")}L${back.join("L")}Z` });
      });
    });
  }
}
