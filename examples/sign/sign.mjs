// Signs URLs for Andon, and fetches them. Node 18 or newer, no packages.
//   import { sign } from "./sign.mjs"
//   const url = sign(process.env.ANDON_KEY, "/r/fit:250x250,q:80/trip/a.jpg", { name: "shop" })
//   const image = await fetched("https://images.example" + url)

import { createHmac } from "node:crypto"
import { readFileSync } from "node:fs"
import { pathToFileURL } from "node:url"

/** Signs a target. `expires` is in seconds since 1970, `name` is the name of the key, and `scope` the number of segments to sign (0: all, and the query). */
export function sign(key, target, { expires = 0, name = "", scope = 0 } = {}) {
  const rest = target.replace(/^\//, "")
  const [path, ...query] = rest.split("?")
  const segments = path.split("/").slice(0, scope || undefined)
  let signed = segments.map((segment) => normal(segment, "")).join("/")
  if (scope === 0 && query.length > 0) signed += "?" + normal(query.join("?"), "/?")
  const signature = createHmac("sha256", key).update(`andon1\n${expires}\n${scope}\n/${signed}`).digest("base64url")
  const said = [String(expires), name, String(scope)]
  while (said.length > 0 && said.at(-1) === ["0", "", "0"][said.length - 1]) said.pop()
  return `/~${[signature, ...said].join(".")}/${rest}`
}

/** Decodes the target once and escapes it again, so that a link stays valid if a proxy escapes it differently. */
function normal(text, more) {
  const bare = "-._~!$&'()*+,;=:@" + more
  const bytes = text.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16)))
  const plain = (char) => /[a-z0-9]/i.test(char) || bare.includes(char)
  const escaped = (char) => "%" + char.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")
  return Array.from(bytes, (char) => (plain(char) ? char : escaped(char))).join("")
}

/** Returns the image at a URL. */
export async function fetched(url) {
  const reply = await fetch(url)
  if (!reply.ok) throw new Error(`${reply.status}: ${await reply.text()}`)
  return Buffer.from(await reply.arrayBuffer())
}

// node sign.mjs vectors.json signs the URLs of the file. node sign.mjs KEY http://HOST TARGET writes the image.
if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  const [first, host, target] = process.argv.slice(2)
  if (target) {
    process.stdout.write(await fetched(host + sign(first, target)))
  } else {
    for (const { key, target, ...more } of JSON.parse(readFileSync(first))) console.log(sign(key, target, more))
  }
}
