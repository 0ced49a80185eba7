// Records the responses of Astro's image endpoint: `node astro.mjs node > ../../crates/server/tests/recorded/astro-node.json`, and
// the same with `generic`. Astro has both endpoints: the Node adapter's, which reads files, and the generic one.

import { register } from "node:module";
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { answer, files, folder, print, serve } from "./answers.mjs";

const [endpoint] = process.argv.slice(2);
const root = await folder();
const origin = await serve(files(root));

// The modules that Astro's build generates from its configuration.
const astro = dirname(fileURLToPath(import.meta.resolve("astro/package.json")));
globalThis.recorded = {
  imageConfig: {
    domains: ["127.0.0.1", "pictures.example"],
    remotePatterns: [{ protocol: "https", hostname: "**.patterns.example", pathname: "/public/*" }],
    service: { config: {} },
  },
  serverDir: pathToFileURL(join(astro, "dist/assets/endpoint/")),
  outDir: pathToFileURL(`${root}/`),
};
const names = Object.keys(globalThis.recorded).map((name) => `export const ${name} = globalThis.recorded.${name};`);
const assets = `data:text/javascript,${encodeURIComponent(names.join(""))}`;
const hook = `export async function resolve(name, context, next) {
  return name === "astro:assets" ? { url: ${JSON.stringify(assets)}, shortCircuit: true } : next(name, context);
}`;
register(`data:text/javascript,${encodeURIComponent(hook)}`);
const service = await import(pathToFileURL(join(astro, "dist/assets/services/sharp.js")));
globalThis.astroAsset = { imageService: service.default };
const { GET } = await import(pathToFileURL(join(astro, `dist/assets/endpoint/${endpoint}.js`)));
console.error = () => {};

/** Options with which /a.jpg (400x300) is requested. */
const OPTIONS = [
  "", "w=200", "h=100", "w=200&h=100", "w=200&h=200", "w=800", "w=800&h=600", "w=800&h=100", "h=600", "w=0", "w=0&h=100",
  "w=-5", "w=x", "w=100px", "w=1.9", "w=1e2", "w=", "w=%20100", "w=99999999999999999999999", "w=200&w=100",
  "w=200&h=100&fit=cover", "w=200&h=100&fit=contain", "w=200&h=100&fit=fill", "w=200&h=100&fit=inside",
  "w=200&h=100&fit=outside", "w=200&h=100&fit=none", "w=200&h=100&fit=scale-down", "w=200&h=100&fit=squeeze",
  "w=200&h=100&fit=", "w=200&fit=squeeze", "w=800&h=800&fit=fill", "w=100&h=200&position=left", "w=100&h=200&position=top",
  "w=100&h=200&position=left%20top", "w=100&h=200&position=attention", "w=100&h=200&position=entropy",
  "w=100&h=200&position=northeast", "w=100&h=200&position=4", "w=100&h=200&position=50%25%2050%25",
  "w=100&h=200&position=", "w=100&position=nowhere", "background=red", "background=%23ff0000", "background=nocolour",
  "background=", "f=webp", "f=avif", "f=png", "f=jpeg", "f=jpg", "f=gif", "f=tiff", "f=svg", "f=heif", "f=bmp", "f=",
  "f=webp&q=50", "f=webp&q=0", "f=webp&q=101", "f=webp&q=low", "f=webp&q=mid", "f=webp&q=high", "f=webp&q=max",
  "f=webp&q=best", "f=webp&q=50%25", "f=webp&q=", "f=png&q=80", "q=0", "q=50", "w=200&unknown=1", "w=100&h=100&f=webp&q=80",
];

const TARGETS = [
  ...OPTIONS.map((options) => `/_image?href=%2Fa.jpg${options && "&"}${options}`),
  ..."|w=100|w=100&h=100|h=100|w=100&h=50&position=top".split("|").map((options) => `/_image?href=/turned.jpg&${options}`),
  ..."w=500|w=333|w=100|w=333&h=333|w=777&h=333&fit=inside|h=200".split("|").map((options) => `/_image?href=/large.jpg&${options}`),
  ..."|w=50|background=red|f=jpeg|f=jpeg&background=red|f=webp".split("|").map((options) => `/_image?href=/alpha.png&${options}`),
  ...["moving.gif", "moving.webp"].flatMap((name) =>
    "|w=20|f=webp|f=gif|f=png|f=jpeg|w=20&h=10&f=webp".split("|").map((options) => `/_image?href=/${name}&${options}`)),
  "/_image?href=/mirrored.jpg&w=100",
  "/_image?href=/chart.svg",
  "/_image?href=/chart.svg&f=svg",
  "/_image?href=/trip/a%2520b.jpg&w=50",
  "/_image?href=/trip/a%20b.jpg&w=50",
  "/_image?href=/trip/a+b.jpg&w=50",
  "/_image?href=/a.jpg%3ForigWidth=400&w=50",
  "/_image?href=a.jpg&w=50",
  "/_image?href=./a.jpg&w=50",
  "/_image?href=/trip/../a.jpg&w=50",
  "/_image?href=/none.jpg&w=50",
  "/_image?href=/text.jpg&w=50",
  "/_image?href=/corrupt.jpg&w=50",
  "/_image?href=&w=50",
  "/_image?w=50",
  "/_image",
  "/_image?href={origin}/a.jpg&w=50",
  "/_image?href={origin}/none.jpg&w=50",
  "/_image?href=http://elsewhere.example/a.jpg&w=50",
  "/_image?href=https://a.b.patterns.example/private/a.jpg&w=50",
  "/_image?href=//elsewhere.example/a.jpg&w=50",
  "/_image?href=%5C%5Celsewhere.example/a.jpg&w=50",
  "/_image?href=data:image/png;base64,AAAA&w=50",
  "/_image?href=file:///etc/passwd&w=50",
  "/_image?href=ftp://pictures.example/a.jpg&w=50",
].map((target) => ({ target }));

const serveFile = files(root);
const base = await serve(async (request, response) => {
  const url = new URL(request.url, `http://${request.headers.host}`);
  if (url.pathname !== "/_image") return serveFile(request, response);
  const reply = await GET({ request: new Request(url, { headers: request.headers }) });
  response.writeHead(reply.status, Object.fromEntries(reply.headers));
  response.end(Buffer.from(await reply.arrayBuffer()));
});
const answers = [];
for (const target of TARGETS) answers.push(await answer(base, origin, target));
process.stdout.write(print(`astro 6.0.5, sharp 0.34.5, ${endpoint}`, answers));
