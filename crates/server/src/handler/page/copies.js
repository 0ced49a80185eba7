// Forms in which a request can be taken along; each is made of what the server told.

/** By name: functions of the URL, its recipe, and what else `about` in play.js gathers. */
export const COPIES = {
  "URL": ({ url }) => url,
  "picture": ({ fallback, size, formats }) => `<picture>\n${formats.map((it) => `  <source type="${it.media_type}" srcset="${html(it.url)}">\n`).join("")}  <img src="${html(fallback)}" ${size} alt="">\n</picture>`,
  "recipe": ({ recipe }) => recipe,
  "curl": ({ url, file }) => `curl ${shell(url)} -o ${file}`,
  "Next.js loader": loader,
  "img": ({ url, size }) => `<img src="${html(url)}" ${size} alt="">`,
  "srcset": ({ url, size, densities }) => `<img src="${html(url)}"\n     srcset="${[`${html(url)} 1x`, ...densities.map((it) => `${html(it.url)} ${it.density}x`)].join(",\n             ")}"\n     ${size} alt="">`,
  "PHP": ({ url, file }) => `<?php\n$image = file_get_contents(${quoted(url)});\nif ($image === false) {\n    throw new RuntimeException('no image');\n}\nfile_put_contents('${file}', $image);`,
  "Python": ({ url, file }) => `import urllib.request\n\nwith urllib.request.urlopen(${JSON.stringify(url)}, timeout=30) as response:\n    with open("${file}", "wb") as file:\n        file.write(response.read())`,
  "nginx": ({ base }) => (base ? `location ^~ /thumbs/ {\n    proxy_pass ${base};\n}` : "# The URL does not end with the image's path: no location stands for all images."),
};

/** A loader for next/image that asks for this recipe at the width and the quality that Next.js wants. */
function loader({ base, recipe }) {
  if (!base?.endsWith(`/${recipe}/`)) return "// A loader needs a URL in Andon's own words, with the recipe and the image's path behind it.";
  const front = base.slice(0, -recipe.length - 1);
  const words = recipe.split(",").filter((word) => !/^(q|max|score|lossless|same)(:|$)/.test(word));
  const box = words.findIndex((word) => /^(fit|cover|exact):/.test(word));
  const scaled = box < 0 ? "fit:${width}x" : atWidth(words[box]);
  const at = box < 0 ? words.findIndex((word) => word.startsWith("as:")) : box;
  words.splice(at < 0 ? words.length : at, box < 0 ? 0 : 1, scaled);
  if (!words.some((word) => word.startsWith("as:"))) words.push("as:auto");
  const quality = recipe.match(/(?:^|,)q:(\d+)/)?.[1] ?? 75;
  // Where nothing but the size changes.
  const isPlain = words.every((word) => /^(fit|as):/.test(word));
  const original = isPlain ? `  // The file itself, as next/image has it: browsers draw it at any size.
  if (/\\.svg$/i.test(src.split(/[?#]/)[0])) return \`${front}original\${source}\`;
` : "";
  return `// next.config.js: images: { loader: "custom", loaderFile: "./loader.mjs" }
export default function andon({ src, width, quality }) {
  const names = /^https?:/.test(src) ? ["", ...src.split("/")] : src.replace(/^\\/*/, "/").split("?")[0].split("/").map(unescaped);
  const source = names.map(encodeURIComponent).join("/");
${original}  return \`${front}${[...words, "q:${quality ?? " + quality + "}"].join(",")}\${source}\`;
}

function unescaped(name) {
  try {
    return decodeURIComponent(name);
  } catch {
    return name; // such as "50% off.jpg"
  }
}`;
}

/** A box of another width and the same shape. */
function atWidth(word) {
  const [, name, width, height, rest] = word.match(/^(\w+):(\d*)x(\d*)(.*)$/) ?? [];
  if (!name || name === "fit" || !width || !height) return `fit:\${width}x${rest ?? ""}`;
  return `${name}:\${width}x\${Math.round(width * ${Number(height)} / ${Number(width)})}${rest}`;
}

const html = (text) => text.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
const shell = (text) => `'${text.replaceAll("'", "'\\''")}'`;
const quoted = (text) => `'${text.replaceAll("\\", "\\\\").replaceAll("'", "\\'")}'`;
