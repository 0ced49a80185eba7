// URLs as the clients of other servers make them: the size that is expected, and the path.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [clients, key, salt, token, source, loader, provider, files] = process.argv.slice(2);
const require = createRequire(`${clients}/here.js`);
const path = (url) => url.replace(/^https?:\/\/[^/]*/, "");
const say = console.log.bind(console);
// One of the libraries logs what it is asked.
console.log = () => {};
const print = (size, url) => say(size, path(url));

const { generateImageUrl } = require("@imgproxy/imgproxy-node");
const imgproxy = (displayAs, options) =>
  generateImageUrl({ endpoint: "http://andon.test/imgproxy", url: { value: source, displayAs }, options, key, salt });
print("150x113", imgproxy("plain", { width: 150, quality: 80 }));
print("100x100", imgproxy("base64", { resizing_type: "fill", width: 100, height: 100, gravity: { type: "ce" } }));
print("90x60", imgproxy("base64", { resizing_type: "force", width: 90, height: 60, format: "webp" }));

const { generateUrl } = require("@imgproxy/imgproxy-js-core");
const bare = generateUrl({ value: source, type: "plain" }, { width: 120, height: 90, blur: 2 });
print("120x90", `/unsigned/insecure${bare}`);

const { default: params, ResizeType } = require("@bitpatty/imgproxy-url-builder");
const bitpatty = (options, more) =>
  params().resize(options).build({ path: source, signature: { key, salt }, baseUrl: "http://andon.test/imgproxy", ...more });
print("90x60", bitpatty({ type: "fill", width: 90, height: 60 }));
print("120x90", bitpatty({ type: ResizeType.FIT, width: 120, height: 120 }, { plain: true }));
print("200x150", params().resize({ width: 100 }).dpr(2).build({ path: source, baseUrl: "http://andon.test/unsigned" }));

const { default: Imgproxy } = require("imgproxy");
const onefinestay = (encode) => new Imgproxy({ baseUrl: "http://andon.test", key, salt, encode }).builder();
print("90x60", `/imgproxy${path(onefinestay(true).resize("fill", 90, 60, 0).generateUrl(source, "png"))}`);
print("100x75", `/imgproxy${path(onefinestay(false).resize("fit", 100, 0, 0).blur(2).generateUrl(source))}`);

for (const name of ["thumbor", "thumbor-lite", "thumbor-url-builder", "thumbor-js-url-builder"]) {
  const library = require(name);
  const thumbor = () => new (library.default ?? library)(token, "http://andon.test/thumbor").setImagePath("trip/a.jpg");
  print("90x60", thumbor().resize(90, 60).buildUrl());
  print("80x60", thumbor().fitIn(90, 60).filter("quality(70)").buildUrl());
  print("80x80", thumbor().resize(80, 80).smartCrop(true).buildUrl());
  print("60x40", thumbor().crop(10, 10, 210, 110).resize(60, 40).halign("left").buildUrl());
}

const { transformUrl } = await import(pathToFileURL(`${clients}/node_modules/unpic/esm/mod.js`));
const unpic = (provider, url, operations) => transformUrl({ url, provider, ...operations });
print("120x80", `/open${path(unpic("imgix", "https://andon.test/trip/a.jpg", { width: 120, height: 80, format: "webp", quality: 70 }))}`);
print("120x80", unpic("cloudflare", `http://${files}/trip/a.jpg`, { width: 120, height: 80, format: "webp", quality: 70 }));
print("120x80", `/weserv${path(unpic("wsrv", `http://${files}/trip/a.jpg`, { width: 120, height: 80, format: "webp", quality: 70 }))}`);

const iiif = require("@atlas-viewer/iiif-image-api");
const service = {
  "@context": "http://iiif.io/api/image/3/context.json", id: "http://andon.test/iiif/3/trip%2Fa.jpg", type: "ImageService3",
  profile: "level2", protocol: "http://iiif.io/api/image", width: 400, height: 300,
  sizes: [{ width: 200, height: 150 }], tiles: [{ width: 128, scaleFactors: [1, 2] }],
};
for (const sized of iiif.getFixedSizesFromService(service)) {
  print("200x150", iiif.getImageFromTileSource(sized, 200).id);
}
const request = iiif.createImageServiceRequest(service);
const asked = (more) => iiif.imageServiceRequestToString({
  ...request, type: "image", scheme: "http", server: "andon.test", prefix: "iiif/3", identifier: "trip%2Fa.jpg", region: { full: true },
  size: { max: true, upscaled: false, confined: false }, rotation: { angle: 0, mirror: false }, quality: "default", format: "jpg", ...more,
}, service);
print("400x300", asked({}));
print("75x100", asked({ size: { width: 100, height: 75, max: false, upscaled: false, confined: false }, rotation: { angle: 90 }, quality: "gray" }));
// The size is that of the whole image's shape.
print("128x96", asked({ region: { x: 128, y: 128, w: 128, h: 128 }, size: { width: 128, height: 128 }, format: "png" }));

const ImgixClient = require("@imgix/js-core");
const imgix = new ImgixClient({ domain: "andon.test", secureURLToken: token, includeLibraryParam: false });
// The prefix is ours: at imgix each source has a host of its own, which a proxy maps to it.
print("120x90", `/imgix${path(imgix.buildURL("/trip/a.jpg", { w: 120 }))}`);
print("80x80", `/imgix${path(imgix.buildURL("/trip/a.jpg", { w: 80, h: 80, fit: "crop" }))}`);

for (const each of imgix.buildSrcSet("/trip/a.jpg", {}, { widths: [50, 100] }).split(",")) {
  const [url, width] = each.trim().split(" ");
  print(width === "50w" ? "50x38" : "100x75", `/imgix${path(url)}`);
}

const { buildURL } = require("imgix-url-builder");
print("100x75", buildURL("https://andon.test/open/trip/a.jpg", { w: 100 }));

const { default: next } = await import(pathToFileURL(loader));
print("200x150", next({ src: "/trip/a.jpg", width: 200 }));
print("64x48", next({ src: "/trip/a.jpg", width: 64, quality: 90 }));
// Sources are URLs, as in HTML: escaped or not, with a version, or elsewhere.
const SOURCES = ["/trip/50% off, größer.jpg", "/trip/50%25%20off%2C%20gr%C3%B6%C3%9Fer.jpg", "trip/a.jpg?v=2", `http://${files}/trip/a.jpg`, `http://${files}/trip/50%25%20off,%20gr%C3%B6%C3%9Fer.jpg`];
for (const src of SOURCES) print("64x48", next({ src, width: 64 }));
for (const src of ["/trip/logo.svg", "/trip/logo.SVG?v=2", `http://${files}/trip/logo.svg`]) print("24x24", next({ src, width: 200 }));

// As Nuxt Image 2 and 1 call it.
const { default: setup, getImage } = await import(pathToFileURL(provider));
const nuxt = (modifiers) => setup().getImage("/trip/a.jpg", { modifiers, baseURL: "https://andon.test/" }).url;
print("200x150", nuxt({ width: 200 }));
print("80x80", nuxt({ width: 80, height: 80, fit: "cover", format: "webp", quality: 70 }));
print("80x60", nuxt({ width: 80, height: 80, fit: "inside" }));
print("90x30", nuxt({ width: 90, height: 30, fit: "fill", format: "jpg" }));
print("400x300", nuxt({}));
for (const src of SOURCES) print("60x45", getImage(src, { modifiers: { width: 60 } }).url);
for (const format of ["png", "gif", "jpg", "jpeg", "webp", "avif"]) print("30x23", nuxt({ width: 30, format }));
print("40x30", getImage("/trip/a.jpg", { modifiers: { height: 30 } }).url);
const logo = (src, modifiers = {}) => getImage(src, { modifiers: { width: 60, ...modifiers } }).url;
for (const src of ["/trip/logo.svg", "trip/logo.SVG?v=2", `http://${files}/trip/logo.svg`]) print("24x24", logo(src));
print("60x60", logo("/trip/logo.svg", { format: "png" }));

// Nuxt Image 2 names a background although there is none; a warning is for what has a value.
const warnings = [];
console.warn = (text) => warnings.push(text);
print("200x150", nuxt({ width: 200, background: undefined, blur: "", format: undefined, quality: null }));
print("30x23", nuxt({ width: 30, blur: 5 }));
if (warnings.length !== 1 || !warnings[0].includes("no blur;")) throw new Error(`warnings: ${warnings.join("\n")}`);
