// Records the responses of `next start` for the samples, as known answers for crates/server/tests/next.rs.
//
// The application's folder `public` holds what samples/ has; see docs/dialects/next.md for the settings.
//
//   node next.mjs http://127.0.0.1:3000 FOLDER_OF_SAMPLES > crates/server/tests/recorded/next.json
import { readFileSync, readdirSync } from 'node:fs';
import sharp from 'sharp';

const [, , origin, samples] = process.argv;
const ACCEPTS = ['image/avif,image/webp,*/*', 'image/webp,*/*', '*/*'];
const paths = [];
for (const folder of ['photos', 'jpeg', 'png', 'gif', 'webp', 'avif', 'svg', 'ico', 'bmp', 'heic', 'jxl', 'tiff'])
  for (const name of readdirSync(`${samples}/${folder}`).sort()) paths.push(`/${folder}/${name}`);
const queries = paths.flatMap((path) => ACCEPTS.map((accept) => [`url=${encodeURIComponent(path)}&w=96&q=75`, accept, path]));
for (const query of ['', 'w=96&q=75', 'url=&w=96&q=75', 'url=/a&url=/b&w=96&q=75', 'url=//a.example/b&w=96&q=75', 'url=/_next/image&w=96&q=75',
  'url=%2F%255Fnext%2Fimage%3Fa&w=96&q=75', 'url=a.jpg&w=96&q=75', 'url=data%3Aimage%2Fpng%2Ca&w=96&q=75', 'url=https%3A%2F%2Fa.org%2Fb.jpg&w=96&q=75',
  'url=/photos/none.jpg&w=96&q=75', 'url=/photos/otter.jpg%3Fv%3D1&w=96&q=75', 'url=/photos/otter.jpg&q=75', 'url=/photos/otter.jpg&w=&q=75', 'url=/photos/otter.jpg&w=a&q=75',
  'url=/photos/otter.jpg&w=97&q=75', 'url=/photos/otter.jpg&w=0&q=75', 'url=/photos/otter.jpg&w=-1&q=75', 'url=/photos/otter.jpg&w=1.5&q=75', 'url=/photos/otter.jpg&w=96&w=96&q=75',
  'url=/photos/otter.jpg&w=96', 'url=/photos/otter.jpg&w=96&q=0', 'url=/photos/otter.jpg&w=96&q=101', 'url=/photos/otter.jpg&w=96&q=76', 'url=/photos/otter.jpg&w=96&q=a', 'url=/photos/otter.jpg&w=96&q=75&q=75',
  'url=/README.md&w=96&q=75', 'url=/photos/otter.jpg&w=3840&q=30&dpl=1', 'url=/photos/../photos/otter.jpg&w=96&q=75'])
  queries.push([query, '*/*', '']);
const known = [];
for (const [query, accept, path] of queries) {
  const response = await fetch(`${origin}/_next/image?${query}`, { headers: { accept } });
  const bytes = Buffer.from(await response.arrayBuffer());
  const one = { query, accept, status: response.status };
  if (response.status !== 200) {
    known.push({ ...one, text: bytes.toString() });
    continue;
  }
  const headers = Object.fromEntries(['content-type', 'vary', 'cache-control', 'content-disposition', 'content-security-policy'].map((name) => [name, response.headers.get(name)]));
  const same = path !== '' && bytes.equals(readFileSync(`${samples}${path}`));
  let size = null;
  if (!same) {
    const { width, height } = await sharp(bytes).metadata();
    size = [width, height];
  }
  known.push({ ...one, headers, same, size });
}
console.log('[\n' + known.map((one) => JSON.stringify(one)).join(',\n') + '\n]');
