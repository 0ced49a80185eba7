// URLs of five sites as the client libraries of other servers make them: the site's name, and the path.
import { files, key, print, random, require, salt, token, unpic } from "./site.mjs";

const { below, one } = random(7);
const often = (work) => { for (let i = 0; i < 60; i += 1) work(i); };
const NAMES = ["a", "summer sale", "épices", "IMG_0042", "x+y", "2024/05/cover", "a&b", "deep/er/still/photo-1", "100%25", "q?uery"];
const file = (i) => `${NAMES[i % NAMES.length]}-${i}.${one(["jpg", "png", "webp", "jpeg"])}`;
const escaped = (i) => file(i).split("/").map(encodeURIComponent).join("/");
const width = () => one([64, 120, 200, 320, 480, 640, 750, 828, 1080]);

// A shop: imgproxy with signatures at the root, by two libraries.
const { generateImageUrl } = require("@imgproxy/imgproxy-node");
const { default: params } = require("@bitpatty/imgproxy-url-builder");
const { default: Imgproxy } = require("imgproxy");
often((i) => {
  const source = `http://${files}/${escaped(i)}`;
  print("shop", generateImageUrl({
    endpoint: "http://shop.test/", url: { value: source, displayAs: one(["plain", "base64"]) }, key, salt,
    options: { width: width(), height: width(), resizing_type: one(["fit", "fill", "force", "auto"]), gravity: { type: one(["ce", "no", "sm", "so"]) },
      quality: 50 + below(50), ...(below(2) && { format: one(["webp", "avif", "jpg"]) }), ...(below(3) === 0 && { blur: 2, sharpen: 0.7 }) },
  }));
  const builder = params().resize({ type: one(["fit", "fill"]), width: width(), height: width() });
  if (below(2)) builder.quality(70);
  if (below(3) === 0) builder.dpr(2);
  print("shop", builder.build({ path: source, signature: { key, salt }, baseUrl: "http://shop.test", plain: below(2) === 0 }));
  print("shop", new Imgproxy({ baseUrl: "http://shop.test", key, salt, encode: below(2) === 0 }).builder().resize("fill", width(), width(), 0).quality(80).generateUrl(source, "png"));
});

// A magazine: thumbor with signatures below a prefix, by four libraries.
often((i) => {
  for (const name of ["thumbor", "thumbor-lite", "thumbor-url-builder", "thumbor-js-url-builder"]) {
    const library = require(name);
    let url = new (library.default ?? library)(token, "http://magazine.test/thumbs").setImagePath(escaped(i));
    url = below(2) ? url.resize(width(), width()) : url.fitIn(width(), width());
    if (below(2)) url = url.smartCrop(true);
    if (below(2)) url = url.filter(`quality(${50 + below(50)})`);
    if (below(3) === 0) url = url.filter("format(webp)");
    if (below(4) === 0) url = url.filter("fill(fff)");
    if (below(4) === 0) url = url.filter("sharpen(1.0,0.5,true)");
    print("magazine", url.buildUrl());
  }
});

// A library: IIIF 3 and 2.
const iiif = require("@atlas-viewer/iiif-image-api");
often((i) => {
  const version = i % 2 ? 3 : 2;
  const id = encodeURIComponent(file(i));
  const service = {
    "@context": `http://iiif.io/api/image/${version}/context.json`, id: `http://library.test/iiif/${version}/${id}`,
    "@id": `http://library.test/iiif/${version}/${id}`, type: `ImageService${version}`, profile: "level2", protocol: "http://iiif.io/api/image",
    width: 4000, height: 3000, sizes: [{ width: 200, height: 150 }, { width: 1000, height: 750 }], tiles: [{ width: 512, scaleFactors: [1, 2, 4] }],
  };
  print("library", `${service.id}/info.json`);
  for (const sized of iiif.getFixedSizesFromService(service)) print("library", iiif.getImageFromTileSource(sized, 512).id);
  const request = iiif.createImageServiceRequest(service);
  const asked = (more) => print("library", iiif.imageServiceRequestToString({
    ...request, type: "image", scheme: "http", server: "library.test", prefix: `iiif/${version}`, identifier: id, region: { full: true },
    size: { max: true, upscaled: false, confined: false }, rotation: { angle: 0, mirror: false }, quality: "default", format: "jpg", ...more,
  }, service));
  asked({});
  asked({ region: { x: 512 * below(4), y: 512 * below(4), w: 512, h: 512 }, size: { width: 512, height: 512 } });
  asked({ size: { width: width(), height: width(), max: false, upscaled: false, confined: true }, rotation: { angle: one([0, 90, 180]), mirror: below(2) === 1 } });
  asked({ region: { square: true }, size: { width: width(), max: false, upscaled: false, confined: false }, quality: one(["gray", "color", "bitonal"]), format: "png" });
});

// A blog: imgix, signed by one library, and none of it signed by the others of the site.
const ImgixClient = require("@imgix/js-core");
const { buildURL } = require("imgix-url-builder");
const imgix = new ImgixClient({ domain: "blog.test", includeLibraryParam: true });
often((i) => {
  print("blog", imgix.buildURL(`/${file(i)}`, { w: width(), h: width(), fit: one(["crop", "clip", "max", "fill", "facearea"]), auto: one(["format", "compress,format"]), q: 60 + below(40) }));
  for (const each of imgix.buildSrcSet(`/${file(i)}`, { ar: "4:3", crop: "faces,entropy" }).split(",\n")) print("blog", each.trim().split(" ")[0]);
  print("blog", buildURL(`https://blog.test/${escaped(i)}`, { w: width(), blur: below(50), monochrome: "ff4a4949", txt: "Hello" }));
  print("blog", unpic("imgix", `https://blog.test/${escaped(i)}`, { width: width(), height: width(), format: "webp", quality: 70 }));
});

// A portal: applications of several frameworks and services beside each other.
often((i) => {
  const local = `/${escaped(i)}`;
  const far = `https://cdn.portal.test/${escaped(i)}`;
  const size = { width: width(), height: width(), quality: one([60, 75, 90]) };
  print("portal", unpic("nextjs", below(2) ? local : far, { width: size.width, quality: size.quality }));
  print("portal", unpic("vercel", below(2) ? local : far, { width: size.width, quality: size.quality }));
  // ipx refuses paths with a question mark, so that no log has them.
  if (!local.includes("%3F")) print("portal", unpic("ipx", below(2) ? local : far, { ...size, format: one(["webp", "avif"]) }, { baseURL: "/_ipx" }));
  print("portal", unpic("astro", below(2) ? local : far, { ...size, format: "webp" }));
  print("portal", unpic("cloudflare", far, { ...size, format: "webp" }, { domain: "portal.test" }));
  print("portal", unpic("wsrv", far, size).replace(/^https:\/\/wsrv.nl\//, "https://portal.test/proxy/"));
  print("portal", unpic("wordpress", `https://portal.test/wp-content/uploads/${escaped(i)}`, { width: size.width, height: size.height }));
});
