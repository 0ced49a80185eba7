// The recipe as controls, made of the words that the server declares.

import { make } from "./dom.js";

const GROUPS = [["step", "Geometry"], ["effect", "Effects"], ["output", "Output"]];
/** Steps that stay ahead of a crop and a focus point: what these are measured on is turned and trimmed. */
const UPRIGHT = ["orient", "turn", "flip", "trim"];
/** Numbers of a range this wide have a slider. */
const SLIDER = 400;

export class Builder {
  /** `list` holds the steps, `add` is the choice of words; `changed` is told each new text. */
  constructor({ words, formats }, list, add, changed) {
    Object.assign(this, { words, formats, list, add, changed, pieces: [] });
  }

  /** Shows pieces as the server took them apart. */
  show(pieces) {
    this.pieces = pieces.map(({ word, values }) => ({ word, values: [...values] }));
    this.render();
  }

  text() {
    return this.pieces.map((piece) => written(this.words[piece.word], piece.values)).join(",") || "same";
  }

  /** The format that is asked for by name. */
  format() {
    const as = this.pieces.find(({ word }) => this.words[word].name === "as");
    return this.formats.find(({ name }) => name === as?.values[0]);
  }

  /** The place of the crop or the focus point that is given by coordinates, or -1. */
  at(name) {
    return this.pieces.findIndex(({ word }) => this.words[word].name === name && this.words[word].args[0].name === "x");
  }

  values(name) {
    return this.pieces[this.at(name)]?.values ?? null;
  }

  /** Sets the coordinates of the crop or of the focus point, which may be new. */
  put(name, values) {
    const place = this.at(name);
    if (place >= 0) {
      this.pieces[place].values = values;
    } else {
      const word = this.words.findIndex((it) => it.name === name && it.args[0].name === "x");
      this.pieces.splice(this.upright(), 0, { word, values });
    }
    this.render();
    this.changed(this.text());
  }

  drop(name) {
    this.pieces.splice(this.at(name), 1);
    this.render();
    this.changed(this.text());
  }

  /** The steps ahead of the crop, or of where one would be. */
  before() {
    const crop = this.at("crop");
    const isFocus = ({ word }) => this.words[word].name === "focus";
    const steps = this.pieces.slice(0, crop < 0 ? this.upright() : crop).filter((piece) => !isFocus(piece));
    return steps.map((piece) => written(this.words[piece.word], piece.values)).join(",");
  }

  upright() {
    const other = this.pieces.findIndex(({ word }) => !UPRIGHT.includes(this.words[word].name));
    return other < 0 ? this.pieces.length : other;
  }

  /** Whether a step keeps the focus point in view. */
  hasCover() {
    return this.pieces.some(({ word }) => this.words[word].name === "cover" || (this.words[word].name === "crop" && this.words[word].args[0].name !== "x"));
  }

  render() {
    this.list.replaceChildren(...this.pieces.map((piece, index) => this.card(piece, index)));
    this.renderChoices();
  }

  renderChoices() {
    const chosen = this.add.value;
    const groups = GROUPS.map(([group, label]) => make("optgroup", { label }, this.words
      .map((word, index) => ({ word, index })).filter(({ word }) => word.group === group)
      .map(({ word, index }) => make("option", { value: String(index) }, word.form))));
    const format = this.format();
    const own = (format?.options ?? []).filter(({ name }) => !this.words.some((word) => word.name === name));
    if (own.length > 0) {
      groups.push(make("optgroup", { label: `Options of ${format.name}` },
        own.map(({ name }) => make("option", { value: `with ${name}` }, `with:${name}`))));
    }
    this.add.replaceChildren(...groups);
    if ([...this.add.options].some(({ value }) => value === chosen)) this.add.value = chosen;
  }

  /** Adds what is chosen: steps behind other steps, words of output at the end. */
  addChosen() {
    let piece;
    if (this.add.value.startsWith("with ")) {
      const name = this.add.value.slice(5);
      const option = this.format().options.find((it) => it.name === name);
      const arg = option.args[0];
      piece = { word: this.words.findIndex((word) => word.name === "with"), values: [name, arg ? first(arg) : ""] };
    } else {
      const word = Number(this.add.value);
      piece = { word, values: [...this.words[word].example] };
    }
    const isOutput = ({ word }) => this.words[word].group === "output";
    const output = this.pieces.findIndex(isOutput);
    const place = isOutput(piece) || output < 0 ? this.pieces.length : output;
    this.pieces.splice(place, 0, piece);
    this.rebuilt(place);
  }

  /** After a change of the list: the focus goes to one of its steps. */
  rebuilt(place) {
    this.render();
    this.changed(this.text());
    const card = this.list.children[Math.min(place, this.pieces.length - 1)];
    (card?.querySelector("input, select, button") ?? this.add).focus();
  }

  move(index, by) {
    const [piece] = this.pieces.splice(index, 1);
    this.pieces.splice(index + by, 0, piece);
    this.rebuilt(index + by);
  }

  card(piece, index) {
    const word = this.words[piece.word];
    const tool = (label, sign, disabled, act) => {
      const button = make("button", { type: "button", className: "quiet", disabled, onclick: act }, sign);
      button.setAttribute("aria-label", `${label} ${word.name}`);
      return button;
    };
    const tools = make("div", { className: "tools" },
      tool("Earlier:", "↑", index === 0, () => this.move(index, -1)),
      tool("Later:", "↓", index === this.pieces.length - 1, () => this.move(index, 1)),
      tool("Remove", "×", false, () => { this.pieces.splice(index, 1); this.rebuilt(index); }));
    const fields = word.args.map((arg, at) => this.field(word, arg, piece.values, at));
    const [help] = word.help.split(/[;.] /);
    return make("li", {}, make("fieldset", {}, make("legend", {}, word.name), tools,
      make("p", { className: "help", title: word.help }, help), make("div", { className: "fields" }, fields)));
  }

  field(word, arg, values, at) {
    const set = (value) => { values[at] = value; this.changed(this.text()); };
    const label = arg.unit ? `${arg.name}, ${arg.unit}` : arg.name;
    const title = `${arg.help} (${arg.says})`;
    const optional = arg.default !== null;
    const value = values[at] ?? "";
    if (arg.kind === "choice" && arg.choices.length === 1 && optional) {
      const box = make("input", { type: "checkbox", checked: value === arg.choices[0], onchange: () => set(box.checked ? arg.choices[0] : "") });
      return make("label", { className: "check", title }, box, label);
    }
    if (arg.kind === "choice") {
      const nothing = optional ? [make("option", { value: "" }, arg.default || "–")] : [];
      const choices = arg.choices.filter((it) => !optional || it !== arg.default);
      const select = make("select", { onchange: () => set(select.value) }, nothing, choices.map((it) => make("option", { value: it }, it)));
      select.value = value === arg.default ? "" : value;
      return make("label", { title }, label, select);
    }
    if (arg.kind === "whole" || arg.kind === "number") return this.number(arg, label, title, value, set);
    if (arg.kind === "colour") return colour(arg, label, title, value, set);
    if (word.name === "as" || word.name === "moving") return this.formatChoice(word, title, value, set);
    const input = make("input", { type: "text", value, placeholder: arg.default ?? "", oninput: () => set(input.value) });
    return make("label", { title }, label, input);
  }

  /** The formats that the server writes, as choices. */
  formatChoice(word, title, value, set) {
    const names = [word.name === "as" ? "auto" : "source", ...this.formats.map(({ name }) => name)];
    if (!names.includes(value)) names.push(value);
    const choice = (name) => make("label", {}, make("input", {
      type: "radio", name: `format-${word.name}`, value: name, checked: name === value,
      onchange: () => { set(name); this.renderChoices(); },
    }), make("span", {}, name));
    return make("fieldset", { className: "chips", title }, make("legend", {}, `format of ${word.name}`), names.map(choice));
  }

  number(arg, label, title, value, set) {
    const [min, max] = arg.range;
    const step = arg.kind === "whole" ? "1" : "any";
    const input = make("input", { type: "number", min, max, step, value, placeholder: arg.default ?? "" });
    input.oninput = () => { if (range) range.value = input.value; set(input.value); };
    if (max - min > SLIDER) return make("label", { title }, label, input);
    const range = make("input", { type: "range", min, max, step: arg.kind === "whole" || max - min > 20 ? "1" : "0.01", value: value || arg.default || min });
    range.setAttribute("aria-label", `${label}, slider`);
    range.oninput = () => { input.value = range.value; set(range.value); };
    return make("div", { className: "wide" }, make("label", { title }, label, make("span", { className: "pair" }, input, range)));
  }
}

function colour(arg, label, title, value, set) {
  const shown = (text) => `#${/^[0-9a-f]{6}/i.test(text) ? text.slice(0, 6) : "000000"}`;
  const input = make("input", { type: "text", value, placeholder: arg.default ?? "", oninput: () => { picker.value = shown(input.value); set(input.value); } });
  const picker = make("input", { type: "color", value: shown(value || arg.default || "") });
  picker.setAttribute("aria-label", `${label}, picker`);
  picker.oninput = () => { input.value = picker.value.slice(1) + input.value.slice(6, 8); set(input.value); };
  return make("div", { className: "wide" }, make("label", { title }, label, make("span", { className: "pair" }, picker, input)));
}

/** What an argument may begin with. */
function first(arg) {
  return arg.default || (arg.range ? String(arg.range[0]) : arg.choices[0]) || "";
}

/** One piece of a recipe's text. Arguments that may be absent are left out where nothing of their group follows them. */
function written(word, values) {
  let text = word.name;
  for (const group of groups(word.args)) {
    const last = group.findLastIndex(({ arg, at }) => arg.default === null || (values[at] ?? "") !== "");
    for (const { arg, at } of group.slice(0, last + 1)) {
      let value = values[at] ?? "";
      if (value === "" && arg.default !== null) {
        if (arg.kind === "choice") continue;
        value = arg.default || (arg.range ? "0" : "");
      }
      const mark = arg.mark === "=" ? `:${arg.name}=` : arg.mark;
      text += mark + (word.group === "effect" ? escaped(value) : value);
    }
  }
  return text;
}

/** The arguments with their places, in groups: those known by their place, and each that is written with its name. */
function groups(args) {
  const all = [[]];
  args.forEach((arg, at) => {
    if (arg.mark === "=") all.push([]);
    all.at(-1).push({ arg, at });
  });
  return all;
}

/** Arguments of effects are escaped: what would end them, and all that is not ASCII. */
function escaped(value) {
  const hex = (byte) => `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  return [...new TextEncoder().encode(value)]
    .map((byte) => (byte > 32 && byte < 127 && !",:%".includes(String.fromCharCode(byte)) ? String.fromCharCode(byte) : hex(byte))).join("");
}
