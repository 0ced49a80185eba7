// A provider for Nuxt Image (1 and 2). In nuxt.config, set
//   image: { provider: "andon", providers: { andon: { provider: "~/providers/andon.mjs", options: { baseURL: "https://images.example" } } } }
// and then <NuxtImg src="/trip/a.jpg" width="400" height="300" fit="cover" quality="80" />.
// Modifiers are width, height, quality, format and fit (cover, fill, inside). For others keep the provider ipx, whose URLs Andon reads.
const STEPS = { cover: "cover", fill: "exact" };
const KNOWN_FITS = ["cover", "fill", "inside"];
const WITH_QUALITY = ["auto", "jpeg", "webp", "avif", "jxl"];

export function getImage(src, { modifiers = {}, baseURL = "" } = {}) {
  const base = `${baseURL.replace(/\/$/, "")}/r`;
  // Nuxt Image passes some modifiers without a value.
  const given = Object.fromEntries(Object.entries(modifiers).filter(([, value]) => value !== undefined && value !== null && value !== ""));
  const { width = "", height = "", fit = "cover", quality = 75, format, ...others } = given;
  const unread = [...Object.keys(others), ...(KNOWN_FITS.includes(fit) ? [] : [`fit="${fit}"`])];
  if (unread.length > 0) console.warn(`andon: ${src}: this provider has no ${unread.join(", ")}; the URLs of ipx have`);
  // SVGs are sent unchanged, as by ipx: browsers draw them at any size.
  if (!format && /\.svg$/i.test(src.split(/[?#]/)[0])) return { url: `${base}/original${sourceOf(src)}` };
  // If only one side is given, it only limits the size of the image.
  const step = (width && height && STEPS[fit]) || "fit";
  const size = width || height ? [`${step}:${width}x${height}`] : [];
  const name = format === "jpg" ? "jpeg" : format ?? "auto";
  const recipe = [...size, ...(WITH_QUALITY.includes(name) ? [`q:${quality}`] : []), `as:${name}`].join(",");
  return { url: `${base}/${recipe}${sourceOf(src)}` };
}

// `src` is a URL of another host, or a path on this one, which may be escaped and may end with a version (?v=2).
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

// Nuxt Image 2 calls this function.
export default () => ({ getImage });
