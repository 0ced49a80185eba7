// The result, alone or beside its original: one over the other, cut by a slider, their difference, or the crop that made it.

import { ask } from "./server.js";
import { byId, make } from "./dom.js";

export class Viewer {
  /** `original` gives the blob of an original, by its kind; `marks` the element with crop and focus point, when it is
   *  drawn; `fail` shows an error. */
  constructor(original, marks, fail) {
    Object.assign(this, { original, marks, fail, result: null, against: null, kind: null, turn: 0 });
    this.stage = byId("stage");
    for (const id of ["against", "zoom", "gain"]) byId(id).addEventListener("change", () => this.draw());
    byId("modes").addEventListener("change", () => this.draw());
    byId("cut").addEventListener("input", () => this.cut());
    new ResizeObserver(() => this.size()).observe(this.stage);
  }

  get mode() {
    return byId("modes").querySelector("input:checked").value;
  }

  /** Shows another result. */
  async show(blob) {
    this.result = await loadImage(blob);
    this.against = null;
    await this.draw();
  }

  async draw() {
    const turn = ++this.turn;
    const mode = this.mode;
    byId("cut-label").hidden = mode !== "slider";
    byId("gain-label").hidden = mode !== "difference";
    byId("frame-tools").hidden = mode !== "frame";
    byId("stage").classList.toggle("framing", mode === "frame");
    byId("stage").tabIndex = mode === "frame" ? -1 : 0;
    if (mode === "frame") return this.frame(turn);
    byId("view-said").textContent = this.result?.said ?? "";
    if (!this.result) return;
    let against = null;
    if (mode !== "result") {
      try {
        against = await this.opposite();
      } catch (error) {
        if (turn === this.turn) this.fail(error);
        return;
      }
      if (turn !== this.turn) return;
    }
    this.view = make("div", { className: "view" });
    const { image } = mode === "against" ? against : this.result;
    this.natural = [image.naturalWidth, image.naturalHeight];
    if (mode === "difference") {
      this.view.append(this.difference(this.result.image, against.image));
    } else {
      image.alt = mode === "against" ? "The original" : "The result";
      this.view.append(image);
    }
    if (mode === "slider") {
      const over = against.image.cloneNode();
      over.alt = "The original";
      over.className = "over";
      this.view.append(over, make("div", { className: "line" }));
      this.cut();
    }
    this.stage.replaceChildren(this.view);
    this.size();
  }

  /** The image with its crop and focus point, and the result beside it. The element with the marks stays where it is: a
   *  pointer may be holding one. */
  async frame(turn) {
    let marks;
    try {
      marks = await this.marks();
    } catch (error) {
      if (turn === this.turn) this.fail(error);
      return;
    }
    if (turn !== this.turn) return;
    this.view = null;
    const made = make("div", { className: "made" });
    if (this.result) {
      this.result.image.alt = "The result";
      made.append(this.result.image);
    }
    if (this.stage.firstElementChild === marks) this.stage.lastElementChild.replaceWith(made);
    else this.stage.replaceChildren(marks, made);
  }

  async opposite() {
    const kind = byId("against").value;
    if (!this.against || this.kind !== kind) {
      this.against = await loadImage(await this.original(kind));
      this.kind = kind;
    }
    return this.against;
  }

  cut() {
    this.view?.style.setProperty("--cut", `${byId("cut").value}%`);
  }

  size() {
    if (!this.view) return;
    const [width, height] = this.natural;
    const zoom = Number(byId("zoom").value);
    const fit = Math.min(1, this.stage.clientWidth / width, (window.innerHeight * 0.68) / height);
    const scale = zoom ? zoom / window.devicePixelRatio : fit;
    this.view.classList.toggle("pixels", zoom > 1);
    this.view.style.width = `${width * scale}px`;
    this.view.style.height = `${height * scale}px`;
  }

  /** How far every sample is off, made visible. */
  difference(one, other) {
    const [width, height] = this.natural;
    const pixels = (image) => {
      const canvas = make("canvas", { width, height });
      const context = canvas.getContext("2d", { willReadFrequently: true });
      context.drawImage(image, 0, 0, width, height);
      return context.getImageData(0, 0, width, height);
    };
    const [result, original] = [pixels(one), pixels(other)];
    const gain = Number(byId("gain").value);
    let [sum, most] = [0, 0];
    for (let at = 0; at < result.data.length; at++) {
      if (at % 4 === 3) { result.data[at] = 255; continue; }
      const off = Math.abs(result.data[at] - original.data[at]);
      sum += off;
      most = Math.max(most, off);
      result.data[at] = off * gain;
    }
    const mean = sum / ((result.data.length / 4) * 3);
    byId("view-said").textContent = `Samples are ${mean.toFixed(2)} of 255 off in the mean, ${most} at most.`;
    const canvas = make("canvas", { width, height, role: "img" });
    canvas.setAttribute("aria-label", "The difference between result and original");
    canvas.getContext("2d").putImageData(result, 0, 0);
    return canvas;
  }
}

/** Loads an image for display. If the browser does not support its format, Andon converts it to a PNG first. */
export async function loadImage(blob) {
  const load = async (content) => {
    const image = make("img", { src: URL.createObjectURL(content) });
    await image.decode();
    return image;
  };
  try {
    return { image: await load(blob), said: "" };
  } catch {
    const png = await ask("render", { recipe: "as:png", image: { source: "result", file: blob } });
    return { image: await load(await png.blob()), said: `This browser does not show ${blob.type}: Andon has made a PNG of it.` };
  }
}
