"""Checks HTTP/2 and HPACK with h2spec, including its strict cases, over TLS."""
import subprocess
from xml.etree import ElementTree

from server import Server, tls_keys

# Most cases break a rule right after the head of a request and expect the stream or the connection to end. A response that is
# complete by then ends the stream first, which is allowed (RFC 9113, 8.1). So the cases request something that takes longer: an
# image that has to be rendered each time, and, where a body follows the head, an upload, whose response waits for the body.
SLOW = "/r/fit:900x900/otter.jpg"
UPLOAD = "/_andon/render?recipe=fit:20x20"
SECTIONS = {SLOW: ["generic", "hpack", "http2/3", "http2/4", "http2/5", "http2/6", "http2/7", "http2/8.2"],
            UPLOAD: ["http2/8.1"]}
KEYS = 'listen = ["127.0.0.1:0"]\n[cache]\nmemory = "0"\n[upload]\nallow = "local"\n'


def check(args, folder):
    checks, found = 0, {}
    with Server(args.andon, folder, KEYS + tls_keys(folder)) as server:
        for path, sections in SECTIONS.items():
            report = folder / "report.xml"
            said = subprocess.run([args.h2spec, "--strict", "--tls", "--insecure", "-p", str(server.port("https")),
                                   "-P", path, "-j", report, *sections], capture_output=True, text=True)
            assert report.exists(), said.stdout + said.stderr
            for case in ElementTree.parse(report).iter("testcase"):
                checks += 1
                if case.find("failure") is not None or case.find("error") is not None:
                    found[case.get("package") + ":" + case.get("classname").replace(" ", "_")] = said.stdout
    yield "h2spec", checks, found
