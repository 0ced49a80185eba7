// A loader for next/image. Set `images: { loader: "custom", loaderFile: "./loader.mjs" }` in next.config.js.
const ANDON = process.env.NEXT_PUBLIC_ANDON ?? "";

export default function andon({ src, width, quality }) {
  const recipe = isSvg(src) ? "original" : `fit:${width}x,q:${quality ?? 75},as:auto`;
  return `${ANDON}/r/${recipe}${sourceOf(src)}`;
}

// SVGs are sent unchanged, as by next/image: browsers draw them at any size.
function isSvg(src) {
  return /\.svg$/i.test(src.split(/[?#]/)[0]);
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
