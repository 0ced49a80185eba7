"""Exported spans, by OpenTelemetry's own definition of the messages."""
import re, threading
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, HTTPServer
from queue import Queue

from google.protobuf.json_format import Parse, ParseError
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from server import Server

TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"


def check(args, folder):
    bodies = Queue()

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self):
            bodies.put(self.rfile.read(int(self.headers["content-length"])).decode())
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_):
            pass

    collector = HTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    keys = f'listen = ["127.0.0.1:0"]\n[trace]\notlp = "http://127.0.0.1:{collector.server_port}"\n'
    with Server(args.andon, folder, keys) as server:
        connection = HTTPConnection("127.0.0.1", server.port("http"))
        connection.request("GET", "/r/fit:100x100/otter.jpg", headers={"traceparent": f"00-{TRACE}-{CALLER}-01"})
        assert connection.getresponse().read()
        body = bodies.get(timeout=60)
    found = {}
    try:
        # Names and types of all fields.
        message = Parse(body, ExportTraceServiceRequest())
    except ParseError as error:
        yield "opentelemetry-proto", 1, {"parse": str(error)}
        return
    spans = message.resource_spans[0].scope_spans[0].spans
    # In JSON ids are hexadecimal, unlike all other bytes of protobuf.
    for name, digits in ("traceId", 32), ("spanId", 16), ("parentSpanId", 16):
        ids = re.findall(rf'"{name}":"([^"]*)"', body)
        if len(ids) != len(spans) or not all(re.fullmatch(rf"[0-9a-f]{{{digits}}}", it) for it in ids):
            found[name] = str(ids)
    if not all(span.start_time_unix_nano <= span.end_time_unix_nano for span in spans):
        found["times"] = "a span ends before it begins"
    if len(spans) < 4:
        found["stages"] = str([span.name for span in spans])
    yield "opentelemetry-proto", len(spans), found
