// URLs of six further sites, of which none has a language at the place where its server has it: the site's name, and the path.
import { createHmac } from "node:crypto";

import { key, path, print, random, require, salt, token, unpic } from "./site.mjs";

const { below, one } = random(991);
const often = (work) => { for (let i = 0; i < 40; i += 1) work(i); };
const NAMES = ["media/2023/11/DSC 0091", "P1000_b", "über/straße", "a(b)c", "it's", "x,y;z", "team=us", "a@2x", "naïve+plus", "UPPER/Case", "dots.in.name", "deep/a/b/c/d/e/f", "tilde~1", "plain/enc/info", "日本/写真"];
const escaped = (i) => `${NAMES[i % NAMES.length]}-${i}.${one(["jpg", "JPG", "png", "webp", "jpeg", "gif"])}`.split("/").map(encodeURIComponent).join("/");
const width = () => one([50, 96, 128, 256, 384, 600, 640, 1200, 1920]);

// Travel: imgproxy without signatures below two segments, with presets, information, and hosts in capitals.
const { generateUrl } = require("@imgproxy/imgproxy-js-core");
const { default: params } = require("@bitpatty/imgproxy-url-builder");
often((i) => {
  const source = one([`https://pics.travel.test/${escaped(i)}`, `HTTPS://PICS.travel.test:8443/${escaped(i)}`, `s3://travel-bucket/${escaped(i)}`, `http://10.1.2.3:9000/${escaped(i)}%3Fv=${i}`]);
  const encoded = Buffer.from(source).toString("base64url");
  print("travel", `/media/render/insecure${generateUrl({ value: source, type: "plain" }, { preset: [one(["thumb", "big"])], width: width(), dpr: 2 })}`);
  print("travel", `/media/render/_${generateUrl({ value: encoded, type: "base64" }, { width: width(), height: width(), gravity: { type: "fp", x: 0.3, y: 0.7 }, background: "ff00ff", cachebuster: "abc" })}`);
  print("travel", `/media/render${path(params().resize({ width: width() }).preset(["sharp"]).build({ path: source, plain: below(2) === 0 }))}`);
  print("travel", `/media/render/info/unsafe${below(2) ? "" : "/exif:1/size:1"}/plain/${encodeURIComponent(source)}`);
});

// A forum: imagor below a prefix, half of it signed with SHA-256. No client library is imagor's own.
const filters = () => {
  const all = ["quality(80)", "format(webp)", "fill(auto)", "blur(3)", "proportion(50)", "watermark(https://forum.test/w.png,10,-10,30)", "focal(0.2x0.2:0.8x0.8)", "round_corner(20)", "rotate(90)", "max_bytes(40000)", "strip_exif()", "hue(120)", "background_color(white)", "max_frames(1)"];
  return `filters:${Array.from({ length: 1 + below(4) }, () => one(all)).join(":")}/`;
};
const imagor = (rest) => {
  const signature = createHmac("sha256", token).update(rest).digest("base64").replace(/\+/g, "-").replace(/\//g, "_");
  return `/pics/${below(2) ? signature : "unsafe"}/${rest}`;
};
often((i) => {
  const size = one(["", `${width()}x${width()}/`, `fit-in/${width()}x${width()}/`, `-${width()}x${width()}/`, "fit-in/-300x-300/", `10x10:200x200/${width()}x0/`, `${width()}x${width()}/10x20/`, `trim/${width()}x${width()}/`, "stretch/200x100/", `${width()}x${width()}/left/bottom/smart/`]);
  const source = below(2) ? `cdn.forum.test/${escaped(i)}` : encodeURIComponent(`https://cdn.forum.test/${escaped(i)}?a=1`);
  print("forum", imagor(`${size}${below(2) ? filters() : ""}${source}`));
});

// A cathedral: IIIF of both versions below prefixes that do not say which, with slashes in identifiers.
const iiif = require("@atlas-viewer/iiif-image-api");
often((i) => {
  for (const [version, prefix] of [[3, "scans/image"], [2, "cantaloupe/iiif/2"]]) {
    const identifier = encodeURIComponent(`coll/${escaped(i)}`);
    const service = {
      "@context": `http://iiif.io/api/image/${version}/context.json`, id: `http://cathedral.test/${prefix}/${identifier}`, type: `ImageService${version}`,
      profile: "level2", protocol: "http://iiif.io/api/image", width: 4000, height: 3000, tiles: [{ width: 512, scaleFactors: [1, 2, 4] }],
    };
    const request = iiif.createImageServiceRequest(service);
    const asked = (more) => print("cathedral", iiif.imageServiceRequestToString({
      ...request, type: "image", scheme: "http", server: "cathedral.test", prefix, identifier, region: { full: true },
      size: { max: true, upscaled: false, confined: false }, rotation: { angle: 0, mirror: false }, quality: "default", format: "jpg", ...more,
    }, service));
    asked({ size: { max: true, upscaled: version === 3, confined: false } });
    asked({ region: { x: 1024, y: 512, w: 300, h: 200 }, size: { width: 150, height: 100 }, rotation: { angle: one([0, 90, 22.5]), mirror: below(2) === 1 } });
    asked({ size: { width: width(), max: false, upscaled: false, confined: false }, quality: one(["gray", "color", "bitonal"]), format: one(["png", "webp", "tif"]) });
    print("cathedral", `${path(service.id)}/info.json`);
  }
});

// A zone: Cloudflare and weserv at the root, and Nuxt, Next and Astro below applications.
often((i) => {
  const far = `https://origin.zone.test/${escaped(i)}`;
  const near = `/${escaped(i)}`;
  print("zone", unpic("cloudflare", below(2) ? far : near, { width: width(), format: "webp", fit: "cover", onerror: "redirect", metadata: "none", anim: false }, { domain: "zone.test" }));
  print("zone", unpic("wsrv", far, { width: width(), height: width(), fit: "cover", output: "webp", a: "attention", mask: "circle", we: true }));
  print("zone", `/?url=${one(["ssl:", "", "//", "https://"])}origin.zone.test/${escaped(i)}&w=${width()}&n=-1`);
  print("zone", `/kiosk${unpic("ipx", below(2) ? far : near, { width: width(), height: width(), quality: 80, format: one(["webp", "avif"]) }, { baseURL: "/_ipx" })}`);
  print("zone", `/shop${unpic("nextjs", below(2) ? far : `/shop${near}`, { width: width(), quality: one([50, 75, 100]) })}`);
  print("zone", `/docs${unpic("astro", below(2) ? far : near, { width: width(), height: width(), format: "webp" })}`);
});

// A clinic: thumbor without signatures and imgproxy with them, both at the root, beside plain files.
const { generateImageUrl } = require("@imgproxy/imgproxy-node");
often((i) => {
  const library = require(one(["thumbor", "thumbor-lite", "thumbor-url-builder", "thumbor-js-url-builder"]));
  let url = new (library.default ?? library)("", "http://clinic.test").setImagePath(`img.clinic.test/${escaped(i)}`);
  url = below(2) ? url.resize(width(), width()) : url.fitIn(width(), width());
  if (below(2)) url = url.filter("quality(70)").filter(one(["format(webp)", "grayscale()", "round_corner(10,255,255,255)", "watermark(http://img.clinic.test/w.png,0,0,50)", "focal(10x10:50x50)"]));
  print("clinic", url.buildUrl());
  print("clinic", generateImageUrl({ endpoint: "http://clinic.test/", url: { value: `https://img.clinic.test/${escaped(i)}`, displayAs: one(["plain", "base64"]) }, key, salt, options: { width: width(), resizing_type: "fill", height: width() } }));
  print("clinic", `/files/${escaped(i)}`);
});

// Twins: two thumbors and two imgproxies, and a site of WordPress whose pages ask for versions of its files.
often((i) => {
  print("twins", `/t1/unsafe/${width()}x${width()}/smart/${escaped(i)}`);
  print("twins", `/old/thumbor/unsafe/fit-in/${width()}x${width()}/filters:quality(80)/${escaped(i)}`);
  print("twins", `/p1/insecure/rs:fill:${width()}:${width()}/plain/https://img.twins.test/${escaped(i)}@webp`);
  print("twins", `/p2/insecure/w:${width()}/${Buffer.from(`https://img.twins.test/${escaped(i)}`).toString("base64url")}.png`);
  print("twins", unpic("wordpress", `https://twins.test/wp-content/uploads/2024/05/${escaped(i)}`, { width: width(), height: width() }));
  print("twins", `/wp-content/uploads/2024/05/${escaped(i)}?resize=${width()}%2C${width()}&ssl=1`);
  print("twins", `/wp-content/themes/t/${escaped(i)}?ver=6.4.${i}`);
});
