// A provider for Nuxt Image (1 and 2): nuxt.config says
//   image: { provider: "andon", providers: { andon: { provider: "~/providers/andon.mjs", options: { baseURL: "https://images.example" } } } }
// and then <NuxtImg src="/trip/a.jpg" width="400" height="300" fit="cover" quality="80" />.
const STEPS = { cover: "cover", fill: "exact" };

export function getImage(src, { modifiers = {}, baseURL = "" } = {}) {
  const { width = "", height = "", fit = "cover", quality = 75, format = "auto" } = modifiers;
  // One side alone only bounds the image.
  const step = (width && height && STEPS[fit]) || "fit";
  const size = width || height ? [`${step}:${width}x${height}`] : [];
  const recipe = [...size, `q:${quality}`, `as:${format === "jpg" ? "jpeg" : format}`].join(",");
  const source = src.split("/").map(encodeURIComponent).join("/");
  return { url: `${baseURL.replace(/\/$/, "")}/r/${recipe}${source}` };
}

// Nuxt Image 2 calls this.
export default () => ({ getImage });
