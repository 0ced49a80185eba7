// Records which URLs the patterns of Next.js permit, as known answers for the tests of the dialect `next`.
//
//   npm install next@16 && node next_patterns.mjs FOLDER_OF_node_modules > crates/dialects/src/next/patterns.json
import { createRequire } from 'node:module';
const require = createRequire(process.argv[2] + '/');
const { matchRemotePattern } = require('next/dist/shared/lib/match-remote-pattern');
const { matchLocalPattern } = require('next/dist/shared/lib/match-local-pattern');

const hosts = ['example.com', '*.example.com', '**.example.com', 'img{1,2}.example.com', 'img[0-9].example.com', 'img?.example.com', '*'];
const urls = ['https://example.com/a.jpg', 'http://example.com/a.jpg', 'https://a.example.com/a.jpg', 'https://a.b.example.com/photos/a.jpg',
  'https://img1.example.com/photos/x/a.jpg?v=1', 'https://img12.example.com/photos/', 'https://example.com:8443/photos/.a/b.jpg',
  'https://example.com.evil.org/a.jpg', 'https://evilexample.com/a.jpg', 'https://EXAMPLE.com/a.jpg'];
const paths = [undefined, '/**', '/photos/**', '/*', '/photos/*', '/**/*.jpg', '/photos/{x,y}/*.jpg', '/photos/?/a.jpg'];
const rest = [{}, { protocol: 'https' }, { protocol: 'http:' }, { port: '' }, { port: '8443' }, { search: '' }, { search: '?v=1' }];
const known = [];
for (const hostname of hosts) for (const url of urls)
  for (const more of [...paths.map((pathname) => ({ pathname })), ...rest]) {
    const remote = JSON.parse(JSON.stringify({ hostname, ...more }));
    known.push({ remote, url, permitted: matchRemotePattern(remote, new URL(url)) });
  }
const local = ['/a.jpg', '/photos/a.jpg', '/photos/x/a.jpg', '/photos', '/photos/', '/photos/.a/b.jpg', '/photosa.jpg', '/photos/a.jpg?v=1', '/photos/../a.jpg', '/photos/a%20b.jpg'];
for (const pathname of [...paths, '**', '/photos/[a-c].jpg', '/photos/a b.jpg']) for (const url of local) for (const search of [undefined, '', '?v=1']) {
  const pattern = JSON.parse(JSON.stringify({ pathname, search }));
  known.push({ local: pattern, url, permitted: matchLocalPattern(pattern, new URL(url, 'http://n')) });
}
console.log('[\n' + known.map((one) => JSON.stringify(one)).join(',\n') + '\n]');
