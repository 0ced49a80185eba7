// The crop and the focus point of a recipe, drawn on the image that they are measured on, and moved by mouse and keyboard.

import { ask, askJson } from "./server.js";
import { byId, make } from "./dom.js";

/** By how much an arrow key moves a mark, as a share of the image. */
const STEP = 0.01;
/** The smallest crop. */
const LEAST = 0.02;
const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
const CORNERS = ["nw", "ne", "sw", "se"];
/** What is marked when a mark is added. */
const FIRST = { crop: ["10%", "10%", "80%", "80%"], focus: ["50%", "50%"] };

export class Marks {
  /** `builder` gives the recipe's builder. */
  constructor(builder) {
    this.builder = builder;
    this.box = make("button", { type: "button", className: "mark-crop" }, CORNERS.map((corner) => make("i", { className: corner })));
    this.point = make("button", { type: "button", className: "mark-focus" });
    this.image = make("img", { alt: "The image before it is cropped", draggable: false });
    this.element = make("div", { className: "marked" }, this.image, this.box, this.point);
    this.element.addEventListener("pointerdown", (event) => this.grab(event));
    this.element.addEventListener("keydown", (event) => this.key(event));
    for (const name of ["crop", "focus"]) {
      byId(`has-${name}`).addEventListener("change", ({ target }) => (target.checked ? builder().put(name, FIRST[name]) : builder().drop(name)));
    }
  }

  /** Shows the marks of the recipe on its image, which is fetched if it is another one. */
  async show(image) {
    const before = this.builder().before() || "same";
    const key = `${image.source} ${image.file?.lastModified} ${before}`;
    if (this.shown !== key) {
      const { plan } = await askJson("plan", { recipe: before, image });
      if (plan.error) throw new Error(`${plan.status}: ${plan.error}`);
      const steps = before === "same" ? "" : `${before},`;
      const preview = await (await ask("render", { recipe: `${steps}fit:1600x1600,as:jpeg,q:85`, image })).blob();
      this.image.src = URL.createObjectURL(preview);
      await this.image.decode();
      this.size = [plan.result.width, plan.result.height];
      this.shown = key;
    }
    this.draw();
  }

  /** The values of a mark as shares of the sides; `null` if the recipe has none. */
  shares(name) {
    const values = this.builder().values(name);
    return values?.map((text, at) => (text.endsWith("%") ? parseFloat(text) / 100 : Number(text) / this.size[at % 2]) || 0) ?? null;
  }

  /** Writes shares of the sides in the unit that the recipe has. */
  put(name, shares) {
    const units = this.builder().values(name) ?? FIRST[name];
    const text = (share, at) => (units[at].endsWith("%") ? `${Number((share * 100).toFixed(1))}%` : String(Math.round(share * this.size[at % 2])));
    this.builder().put(name, shares.map(text));
    this.draw();
  }

  draw() {
    const [crop, focus] = [this.shares("crop"), this.shares("focus")];
    const per = (share) => `${(share * 100).toFixed(1)} %`;
    byId("has-crop").checked = crop !== null;
    byId("has-focus").checked = focus !== null;
    this.box.hidden = !crop;
    this.point.hidden = !focus;
    if (crop) {
      for (const [at, side] of ["left", "top", "width", "height"].entries()) this.box.style[side] = `${crop[at] * 100}%`;
      this.box.setAttribute("aria-label", `Crop at ${per(crop[0])} from the left and ${per(crop[1])} from the top, ${per(crop[2])} wide, ${per(crop[3])} high. Arrow keys move it, with Shift they resize it, Delete removes it.`);
    }
    if (focus) {
      const at = this.within(crop) ? [crop[0] + focus[0] * crop[2], crop[1] + focus[1] * crop[3]] : focus;
      this.point.style.left = `${at[0] * 100}%`;
      this.point.style.top = `${at[1] * 100}%`;
      this.point.setAttribute("aria-label", `Focus point at ${per(focus[0])} from the left and ${per(focus[1])} from the top. Arrow keys move it, Delete removes it.`);
    }
    byId("frame-said").textContent = focus && !this.builder().hasCover() ? "The focus point matters to cover and to crop:WIDTHxHEIGHT; this recipe has neither." : "";
  }

  /** Whether the focus point is measured on the cropped image. */
  within(crop) {
    return crop !== null && this.builder().at("focus") > this.builder().at("crop");
  }

  key(event) {
    const name = event.target === this.box ? "crop" : event.target === this.point ? "focus" : null;
    if (!name) return;
    if (event.key === "Delete") {
      byId(`has-${name}`).focus();
      return this.builder().drop(name);
    }
    const by = ARROWS[event.key]?.map((it) => it * STEP);
    if (!by) return;
    event.preventDefault();
    const shares = this.shares(name);
    if (name === "focus") return this.put(name, [limited(shares[0] + by[0], 0, 1), limited(shares[1] + by[1], 0, 1)]);
    this.put(name, event.shiftKey ? resized(shares, "se", by) : moved(shares, by));
  }

  /** Moves what is under the pointer until it is released; on the bare image a new crop is drawn. */
  grab(event) {
    if (event.button !== 0) return;
    event.preventDefault();
    const mark = event.target.closest("button");
    mark?.focus();
    const frame = this.element.getBoundingClientRect();
    const place = ({ clientX, clientY }) => [(clientX - frame.left) / frame.width, (clientY - frame.top) / frame.height];
    const began = place(event);
    const corner = event.target.closest("i")?.className;
    const name = mark === this.point ? "focus" : "crop";
    const before = mark ? this.shares(name) : [...began, 0, 0];
    const scale = name === "focus" && this.within(this.shares("crop")) ? this.shares("crop").slice(2) : [1, 1];
    const move = (now) => {
      const by = place(now).map((it, at) => (it - began[at]) / scale[at]);
      if (name === "focus") return this.put(name, [limited(before[0] + by[0], 0, 1), limited(before[1] + by[1], 0, 1)]);
      if (mark) return this.put(name, corner ? resized(before, corner, by) : moved(before, by));
      if (Math.min(Math.abs(by[0]), Math.abs(by[1])) > LEAST) this.put(name, between(began, place(now)));
    };
    this.element.setPointerCapture(event.pointerId);
    this.element.addEventListener("pointermove", move);
    this.element.addEventListener("lostpointercapture", () => this.element.removeEventListener("pointermove", move), { once: true });
  }
}

const limited = (value, least, most) => Math.min(most, Math.max(least, value));

const moved = ([x, y, width, height], by) => [limited(x + by[0], 0, 1 - width), limited(y + by[1], 0, 1 - height), width, height];

/** With one corner elsewhere; the opposite one stays. */
function resized([x, y, width, height], corner, by) {
  const side = (from, length, isFirst, by) => {
    const end = from + length;
    if (!isFirst) return [from, limited(length + by, LEAST, 1 - from)];
    const start = limited(from + by, 0, end - LEAST);
    return [start, end - start];
  };
  const [left, wide] = side(x, width, corner.endsWith("w"), by[0]);
  const [top, high] = side(y, height, corner.startsWith("n"), by[1]);
  return [left, top, wide, high];
}

/** The rectangle between two points. */
function between(one, other) {
  const side = (at) => [limited(Math.min(one[at], other[at]), 0, 1), limited(Math.max(one[at], other[at]), 0, 1)];
  const [[left, right], [top, bottom]] = [side(0), side(1)];
  return [left, top, right - left, bottom - top];
}
