// Elements and numbers.

/** An element with properties (and attributes, whose names have a dash) and children. */
export function make(tag, properties = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes("-") || name === "role" || name === "for") element.setAttribute(name, value);
    else element[name] = value;
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

/** An element of a drawing. */
export function draw(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

export const byId = (id) => document.getElementById(id);

/** With three digits. */
const short = (count) => (count < 10 ? count.toFixed(2) : count < 100 ? count.toFixed(1) : String(Math.round(count)));

export function bytes(count) {
  if (count < 1000) return `${count} B`;
  const power = Math.min(Math.floor(Math.log10(count) / 3), 3);
  return `${short(count / 1000 ** power)} ${["B", "KB", "MB", "GB"][power]}`;
}

export const millis = (count) => `${short(count)} ms`;

/** A table; cells that are numbers stand to the right. */
export function table(caption, head, rows, foot) {
  const numeric = head.map((_, column) => rows.length > 0 && rows.every((row) => /^([\d.]|–$)/.test(row[column].textContent ?? row[column])));
  const line = (cells, tag) => make("tr", {}, cells.map((cell, column) =>
    make(tag, { className: numeric[column] ? "number" : "", "data-head": head[column] }, cell)));
  const parts = [make("thead", {}, line(head, "th")), make("tbody", {}, rows.map((row) => line(row, "td")))];
  for (const cell of parts[0].querySelectorAll("th")) cell.scope = "col";
  if (foot) parts.push(make("tfoot", {}, line(foot, "td")));
  const made = make("table", {}, parts);
  made.setAttribute("aria-label", caption);
  return made;
}
