// sharp.cjs FOLDER PORT: a bare HTTP server over sharp. /SIDE/NAME is the photo within a square of SIDE px.
const http = require("node:http");
const path = require("node:path");
const sharp = require("sharp");

const [folder, port] = process.argv.slice(2);

http
  .createServer(async (request, response) => {
    const [, side, ...name] = request.url.split("/");
    try {
      const body = await sharp(path.join(folder, ...name))
        .autoOrient()
        .resize(Number(side), Number(side), { fit: "inside", withoutEnlargement: true })
        .jpeg({ quality: 80 })
        .toBuffer();
      response.writeHead(200, { "Content-Type": "image/jpeg", "Content-Length": body.length }).end(body);
    } catch (error) {
      const body = String(error);
      response.writeHead(500, { "Content-Length": Buffer.byteLength(body) }).end(body);
    }
  })
  .listen(Number(port), "127.0.0.1");
