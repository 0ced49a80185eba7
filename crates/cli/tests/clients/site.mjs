// What programs share that print the URLs of sites: the site's name, and the path.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

/** The path of the folder with the libraries, and what the URLs are signed with. */
export const [clients, key, salt, token, files] = process.argv.slice(2);

/** Loads one of the libraries. */
export const require = createRequire(`${clients}/here.js`);

/** A URL without its scheme and host. */
export const path = (url) => url.replace(/^https?:\/\/[^/]*/, "");

const say = console.log.bind(console);
// One of the libraries logs what it is asked.
console.log = () => {};
export const print = (site, url) => say(`${site} ${path(url)}`);

/** Numbers below a limit, the same in every run, and a choice from a list by them. */
export const random = (seed) => {
  let state = seed;
  const below = (most) => {
    state = (state * 1103515245 + 12345) % 2147483648;
    return Math.floor((state / 2147483648) * most);
  };
  return { below, one: (list) => list[below(list.length)] };
};

const { transformUrl } = await import(pathToFileURL(`${clients}/node_modules/unpic/esm/mod.js`));
export const unpic = (provider, url, operations, options) => transformUrl({ url, provider, ...operations }, undefined, options && { [provider]: options });
