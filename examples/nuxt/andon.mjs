// A provider for Nuxt Image (1 and 2): nuxt.config says
//   image: { provider: "andon", providers: { andon: { provider: "~/providers/andon.mjs", options: { baseURL: "https://images.example" } } } }
// and then <NuxtImg src="/trip/a.jpg" width="400" height="300" fit="cover" quality="80" />.
// Modifiers are width, height, quality, format and fit (cover, fill, inside); for others keep the provider ipx, whose URLs Andon reads.
const STEPS = { cover: "cover", fill: "exact" };
const KNOWN_FITS = ["cover", "fill", "inside"];
const WITH_QUALITY = ["auto", "jpeg", "webp", "avif", "jxl"];

export function getImage(src, { modifiers = {}, baseURL = "" } = {}) {
  const base = `${baseURL.replace(/\/$/, "")}/r`;
  // Nuxt Image names some modifiers without a value.
  const given = Object.fromEntries(Object.entries(modifiers).filter(([, value]) => value !== undefined && value !== null && value !== ""));
  const { width = "", height = "", fit = "cover", quality = 75, format, ...others } = given;
  const unread = [...Object.keys(others), ...(KNOWN_FITS.includes(fit) ? [] : [`fit="${fit}"`])];
  if (unread.length > 0) console.warn(`andon: ${src}: this provider has no ${unread.join(", ")}; the URLs of ipx have`);
  // The file itself, as ipx has it: browsers draw it at any size.
  if (!format && /\.svg$/i.test(src.split(/[?#]/)[0])) return { url: `${base}/original${sourceOf(src)}` };
  // One side alone only bounds the image.
  const step = (width && height && STEPS[fit]) || "fit";
  const size = width || height ? [`${step}:${width}x${height}`] : [];
  const name = format === "jpg" ? "jpeg" : format ?? "auto";
  const recipe = [...size, ...(WITH_QUALITY.includes(name) ? [`q:${quality}`] : []), `as:${name}`].join(",");
  return { url: `${base}/${recipe}${sourceOf(src)}` };
}

// `src` is a URL: of another host, or a path here, which may be escaped and have a version (?v=2) behind it.
function sourceOf(src) {
  if (/^https?:/.test(src)) return `/${src.split("/").map(encodeURIComponent).join("/")}`;
  const path = src.startsWith("/") ? src : `/${src}`;
  return path.split("?")[0].split("/").map((name) => encodeURIComponent(unescaped(name))).join("/");
}

function unescaped(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // such as `50% off.jpg`
  }
}

// Nuxt Image 2 calls this.
export default () => ({ getImage });
