// The same recipe in four formats, side by side at true size.

import { ask, askJson } from "./server.js";
import { loadImage } from "./viewer.js";
import { byId, bytes, make } from "./dom.js";

/** From the most common; the first four that the server writes are compared. */
const WANTED = ["jpeg", "webp", "avif", "jxl", "png"];
/** By how many per cent an arrow key moves the part that is shown. */
const STEP = 5;

export class Formats {
  /** `use` is called with the recipe that is chosen. */
  constructor(use) {
    this.use = use;
    this.list = byId("four");
    this.seen = [50, 50];
    this.list.addEventListener("pointermove", (event) => {
      const box = event.target.closest(".look")?.getBoundingClientRect();
      if (box) this.look(((event.clientX - box.left) / box.width) * 100, ((event.clientY - box.top) / box.height) * 100);
    });
    this.list.addEventListener("keydown", (event) => {
      const by = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] }[event.key];
      if (!by || event.target !== this.list) return;
      event.preventDefault();
      this.look(this.seen[0] + by[0], this.seen[1] + by[1]);
    });
    this.look(50, 50);
  }

  /** All four show the same place, in per cent of what is out of sight. */
  look(x, y) {
    this.seen = [x, y].map((it) => Math.min(100, Math.max(0, it)));
    this.list.style.setProperty("--at", this.seen.map((it) => `${it}%`).join(" "));
  }

  /** Makes `steps`, a recipe without its format and quality, in each format. `quality` is a word such as `score:80`. */
  async compare({ steps, quality, formats, image, signal }) {
    const names = WANTED.filter((name) => formats.some((it) => it.name === name)).slice(0, 4);
    const cards = names.map((name) => this.card(name));
    this.list.replaceChildren(...cards.map(({ figure }) => figure));
    for (const [at, name] of names.entries()) {
      const isLossy = formats.find((it) => it.name === name).options.some((it) => it.name === "q");
      const recipe = [...steps, `as:${name}`, ...(isLossy && quality ? [quality] : [])].join(",");
      await this.fill(cards[at], recipe, image, signal);
    }
    const lengths = cards.map(({ length }) => length ?? Infinity);
    cards[lengths.indexOf(Math.min(...lengths))]?.figure.classList.add("best");
  }

  card(name) {
    const [look, bytes, said] = [make("div", { className: "look" }), make("b", {}, "…"), make("span", { className: "soft" })];
    const button = make("button", { type: "button", className: "quiet", disabled: true }, "use");
    button.setAttribute("aria-label", `Use ${name}`);
    const caption = make("figcaption", {}, make("span", { className: "name" }, name), bytes, said, button);
    return { name, look, bytes, said, button, figure: make("figure", {}, look, caption) };
  }

  async fill(card, recipe, image, signal) {
    try {
      const blob = await (await ask("render", { recipe, image, signal })).blob();
      const shown = await loadImage(blob);
      shown.image.alt = `The result as ${card.name}`;
      card.look.replaceChildren(shown.image);
      card.length = blob.size;
      card.bytes.textContent = bytes(blob.size);
      card.button.disabled = false;
      card.button.onclick = () => this.use(recipe);
      card.said.textContent = "scoring …";
      const { score } = await askJson("score", { recipe, image, signal });
      card.said.textContent = `score ${score.toFixed(1)}${shown.said ? ", shown as PNG" : ""}`;
      card.said.title = shown.said;
    } catch (error) {
      if (error.name === "AbortError") throw error;
      card.said.textContent = error.message;
      card.said.className = "error";
    }
  }
}
