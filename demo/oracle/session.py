"""One browser with one page, which draws sources and then results."""
import http.client, json, threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from PIL import Image

import browsers, decoders
from judge import Frame, Verdict, compare

HERE = Path(__file__).parent
PAGE = {"/": ("page.html", "text/html; charset=utf-8"), "/page.js": ("page.js", "text/javascript")}
TYPES = {"svg": "image/svg+xml", "ico": "image/x-icon"} | {each: f"image/{each}" for each in
         ("jpeg", "png", "webp", "avif", "jxl", "gif", "bmp", "tiff")}
# Seconds without a message from the browser after which it counts as hung.
PATIENCE = 120


class Session:
    def __init__(self, name, andon, folder, sources, targets, report):
        self.name, self.andon, self.folder, self.report = name, andon, folder, report
        self.sources, self.targets = sources, targets
        # The frames that the browser shows of each source, the last response to each URL, and the browser's Accept header for <img>.
        self.shown, self.answers, self.accept = {}, {}, "*/*"
        # Formats that the browser does not draw.
        self.undrawn = set()
        # A fault of this program itself.
        self.fault = None
        self.done = threading.Event()
        self.heard = threading.Event()

    def jobs(self):
        sources = [{"id": f"source/{number}", "url": f"/source/{source.name}", "kind": source.kind}
                   for number, source in enumerate(self.sources)]
        results = [{"id": f"result/{number}", "url": target.url, "kind": target.kind} for number, target in enumerate(self.targets)]
        return {"sources": sources, "results": results}

    def source(self, number, frames):
        source = self.sources[number]
        form = format_of(source.name)
        if not frames and source.kind != "case":
            self.undrawn.add(form)
        self.shown[source.name] = frames or decoders.frames((self.folder / source.name).read_bytes(), form)[1]
        self.report.source(self.name, source, frames)

    def result(self, number, frames, why):
        target = self.targets[number]
        status, kind, body = self.answers.pop(target.url)
        form, by = kind.split("/")[-1], self.name
        reference = self.shown[target.source.name]
        if target.kind == "still":
            reference = reference[target.frame:target.frame + 1]
        if status != 200:
            verdict = Verdict(why=f"{status} {body.decode(errors='replace').strip()}")
        elif not frames and form not in self.undrawn:
            verdict = Verdict(why=f"not drawn: {why}")
        else:
            if not frames:
                by, frames = decoders.frames(body, form)
            verdict = compare(reference, frames, form)
        self.report.result(self.name, by, target, form, verdict, reference, frames, body)

    def run(self, profile):
        server = ThreadingHTTPServer(("127.0.0.1", 0), handler(self))
        threading.Thread(target=server.serve_forever, daemon=True).start()
        browser = browsers.start(self.name, profile, f"http://127.0.0.1:{server.server_port}/")
        try:
            while not self.done.wait(PATIENCE):
                if not self.heard.is_set():
                    raise SystemExit(f"{self.name} is silent")
                self.heard.clear()
        finally:
            browser.terminate()
            browser.wait()
            server.shutdown()
        if self.fault:
            raise self.fault


def format_of(name):
    ending = name.rsplit(".", 1)[1]
    return {"jpg": "jpeg", "tif": "tiff"}.get(ending, ending)


def read(body):
    """Parses a message of the page about a file, and its pixels."""
    said, pixels = body.split(b"\n", 1)
    said = json.loads(said)
    frames, at = [], 0
    for ms, width, height in said["frames"]:
        end = at + width * height * 4
        frames.append(Frame(Image.frombytes("RGBA", (width, height), pixels[at:end]), ms))
        at = end
    return said["why"], frames


def handler(session):
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_):
            pass

        def handle(self):
            try:
                super().handle()
            except ConnectionError:
                # The browser has closed the connection.
                pass

        def answer(self, body, kind="text/plain", status=200):
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.send_header("Cache-Control", "no-store")
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            if self.path in PAGE:
                name, kind = PAGE[self.path]
                self.answer((HERE / name).read_bytes(), kind)
            elif self.path == "/jobs":
                self.answer(json.dumps(session.jobs()).encode(), "application/json")
            elif self.path.startswith("/source/"):
                name = self.path.removeprefix("/source/")
                if self.headers["Accept"] != "*/*":
                    session.accept = self.headers["Accept"]
                self.answer((session.folder / name).read_bytes(), TYPES[format_of(name)])
            elif self.path == "/favicon.ico":
                self.answer(b"", status=404)
            else:
                self.result()

        def result(self):
            connection = http.client.HTTPConnection(session.andon, timeout=PATIENCE)
            connection.request("GET", self.path, headers={"Accept": session.accept})
            answer = connection.getresponse()
            kind, body = answer.headers.get("Content-Type", ""), answer.read()
            connection.close()
            session.answers[self.path] = answer.status, kind, body
            self.answer(body, kind, answer.status)

        def do_POST(self):
            body = self.rfile.read(int(self.headers["Content-Length"]))
            session.heard.set()
            if self.path == "/done":
                self.answer(b"")
                session.done.set()
                return
            _, _, part, number = self.path.split("/")
            try:
                why, frames = read(body)
                if part == "source":
                    session.source(int(number), frames)
                else:
                    session.result(int(number), frames, why)
            except BaseException as fault:
                session.fault = fault
                session.done.set()
            self.answer(b"")

    return Handler
