// What the page asks of the server. Its errors are shown as they are.

const PLACE = "/_andon/play/";
const KEY = "andon-token";

/** An error of the server: its status, and its own sentence. */
export class ServerError extends Error {
  constructor(status, text) {
    super(`${status}: ${text.trim()}`);
    this.status = status;
  }
}

export const token = {
  get: () => sessionStorage.getItem(KEY),
  set: (text) => sessionStorage.setItem(KEY, text),
};

async function checked(response) {
  if (!response.ok) throw new ServerError(response.status, await response.text());
  return response;
}

/** Asks the playground: `place` is one of its own, `image` what a recipe is for. */
export async function ask(place, { recipe, image, url, dialect, signal } = {}) {
  const query = new URLSearchParams();
  if (recipe) query.set("recipe", recipe);
  if (image) query.set("source", image.source);
  if (url) query.set("url", url);
  if (dialect) query.set("dialect", dialect);
  const request = { headers: {}, signal };
  if (image?.file) Object.assign(request, { method: "POST", body: image.file });
  if (token.get()) request.headers.Authorization = `Bearer ${token.get()}`;
  return checked(await fetch(`${PLACE}${place}?${query}`, request));
}

export const askJson = async (place, what) => (await ask(place, what)).json();

/** The answer to a URL of an image, as any browser gets it. */
export const get = async (url, signal) => checked(await fetch(url, { signal }));

/** The stages of `Server-Timing`: names and milliseconds. */
export function stages(response) {
  const header = response.headers.get("server-timing") ?? "";
  return header.split(",").map((entry) => entry.trim().split(";dur=")).filter((it) => it.length === 2)
    .map(([name, time]) => ({ name, time: Number(time) }));
}
