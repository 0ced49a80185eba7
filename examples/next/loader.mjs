// A loader for next/image: next.config.js says `images: { loader: "custom", loaderFile: "./loader.mjs" }`.
const ANDON = process.env.NEXT_PUBLIC_ANDON ?? "";

export default function andon({ src, width, quality }) {
  const path = src.startsWith("/") ? src : `/${src}`;
  const source = path.split("/").map(encodeURIComponent).join("/");
  return `${ANDON}/r/fit:${width}x,q:${quality ?? 75},as:auto${source}`;
}
