// URLs as the clients of imgproxy and imgix make them: the size that is expected, and the path.
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";

const [clients, key, salt, token, source, loader, provider] = process.argv.slice(2);
const require = createRequire(`${clients}/here.js`);
const path = (url) => url.replace(/^https?:\/\/[^/]*/, "");
const print = (size, url) => console.log(size, path(url));

const { generateImageUrl } = require("@imgproxy/imgproxy-node");
const imgproxy = (displayAs, options) =>
  generateImageUrl({ endpoint: "http://andon.test/imgproxy", url: { value: source, displayAs }, options, key, salt });
print("150x113", imgproxy("plain", { width: 150, quality: 80 }));
print("100x100", imgproxy("base64", { resizing_type: "fill", width: 100, height: 100, gravity: { type: "ce" } }));
print("90x60", imgproxy("base64", { resizing_type: "force", width: 90, height: 60, format: "webp" }));

const { generateUrl } = require("@imgproxy/imgproxy-js-core");
const bare = generateUrl({ value: source, type: "plain" }, { width: 120, height: 90, blur: 2 });
print("120x90", `/unsigned/insecure${bare}`);

const ImgixClient = require("@imgix/js-core");
const imgix = new ImgixClient({ domain: "andon.test", secureURLToken: token, includeLibraryParam: false });
// The prefix is ours: at imgix each source has a host of its own, which a proxy maps to it.
print("120x90", `/imgix${path(imgix.buildURL("/trip/a.jpg", { w: 120 }))}`);
print("80x80", `/imgix${path(imgix.buildURL("/trip/a.jpg", { w: 80, h: 80, fit: "crop" }))}`);

const { buildURL } = require("imgix-url-builder");
print("100x75", buildURL("https://andon.test/open/trip/a.jpg", { w: 100 }));

const { default: next } = await import(pathToFileURL(loader));
print("200x150", next({ src: "/trip/a.jpg", width: 200 }));
print("64x48", next({ src: "/trip/a.jpg", width: 64, quality: 90 }));

// As Nuxt Image 2 and 1 call it.
const { default: setup, getImage } = await import(pathToFileURL(provider));
const nuxt = (modifiers) => setup().getImage("/trip/a.jpg", { modifiers, baseURL: "https://andon.test/" }).url;
print("200x150", nuxt({ width: 200 }));
print("80x80", nuxt({ width: 80, height: 80, fit: "cover", format: "webp", quality: 70 }));
print("80x60", nuxt({ width: 80, height: 80, fit: "inside" }));
print("90x30", nuxt({ width: 90, height: 30, fit: "fill", format: "jpg" }));
print("400x300", nuxt({}));
print("40x30", getImage("/trip/a.jpg", { modifiers: { height: 30 } }).url);
