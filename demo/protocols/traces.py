"""Checks exported traces, metrics and logs against OpenTelemetry's own definition of the messages."""
import gzip, re, threading
from http.client import HTTPConnection
from http.server import BaseHTTPRequestHandler, HTTPServer
from queue import Empty, Queue
from urllib.parse import quote

from google.protobuf.json_format import Parse, ParseError
from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.metrics.v1.metrics_pb2 import AGGREGATION_TEMPORALITY_CUMULATIVE
from prometheus_client.parser import text_string_to_metric_families as plain_text
from server import Server

TRACE, CALLER = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"

SECRET = "hidden=key"

REQUESTS = {"traces": ExportTraceServiceRequest, "metrics": ExportMetricsServiceRequest, "logs": ExportLogsServiceRequest}


def check(args, folder):
    messages, secrets = Queue(), set()

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self):
            body = self.rfile.read(int(self.headers["content-length"]))
            secrets.add(self.headers["x-api-key"])
            messages.put((self.path.removeprefix("/v1/"), gzip.decompress(body).decode()))
            self.send_response(200)
            self.send_header("content-type", "application/json")
            self.end_headers()
            self.wfile.write(b"{}")

        def log_message(self, *_):
            pass

    collector = HTTPServer(("127.0.0.1", 0), Collector)
    threading.Thread(target=collector.serve_forever, daemon=True).start()
    keys = 'listen = ["127.0.0.1:0"]\nmetrics.allow = "all"\nlog.level = "debug"\notlp.access_log = true\n'
    variables = {"OTEL_EXPORTER_OTLP_ENDPOINT": f"http://127.0.0.1:{collector.server_port}",
                 "OTEL_EXPORTER_OTLP_HEADERS": f"x-api-key={quote(SECRET)}", "OTEL_SERVICE_NAME": "thumbnails"}
    with Server(args.andon, folder, keys, variables=variables) as server:
        def get(target):
            connection = HTTPConnection("127.0.0.1", server.port("http"))
            connection.request("GET", target, headers={"traceparent": f"00-{TRACE}-{CALLER}-01"})
            return connection.getresponse().read().decode(errors="replace")

        assert get("/r/fit:100x100/otter.jpg")
        page = get("/metrics")
        log = server.log
    # The server has ended, and has sent everything before that.
    parsed, bodies, found = {name: [] for name in REQUESTS}, {name: "" for name in REQUESTS}, {}
    while True:
        try:
            name, body = messages.get_nowait()
        except Empty:
            break
        try:
            # Names and types of all fields are checked: a field that is not in the definition is an error.
            parsed[name].append(Parse(body, REQUESTS[name]()))
            bodies[name] += body
        except ParseError as error:
            found[f"parse-{name}"] = str(error)
    if secrets != {SECRET}:
        found["headers"] = f"{secrets} were sent"
    if SECRET in log.read_text():
        found["log"] = "has the secret"
    if not found:
        found = spans(parsed["traces"], bodies["traces"]) | metrics(parsed["metrics"], page) | logs(parsed["logs"])
        resources = [parsed["traces"][0].resource_spans[0], parsed["metrics"][0].resource_metrics[0], parsed["logs"][0].resource_logs[0]]
        for it in resources:
            attributes = {attribute.key: attribute.value.string_value for attribute in it.resource.attributes}
            if attributes.get("service.name") != "thumbnails" or not attributes.get("service.instance.id"):
                found["resource"] = str(attributes)
    yield "opentelemetry-proto", sum(len(all) for all in parsed.values()), found


def spans(messages, body):
    found = {}
    spans = [span for message in messages for span in message.resource_spans[0].scope_spans[0].spans]
    # In JSON, ids are hexadecimal, unlike all other bytes of protobuf.
    for name, digits in ("traceId", 32), ("spanId", 16), ("parentSpanId", 16):
        ids = re.findall(rf'"{name}":"([^"]*)"', body)
        if len(ids) != len(spans) or not all(re.fullmatch(rf"[0-9a-f]{{{digits}}}", it) for it in ids):
            found[name] = str(ids)
    if not all(span.start_time_unix_nano <= span.end_time_unix_nano for span in spans):
        found["times"] = "a span ends before it begins"
    if len(spans) < 4:
        found["stages"] = str([span.name for span in spans])
    return found


def metrics(messages, page):
    """Checks that every family of /metrics that has samples is a metric of the same kind in the last message."""
    found = {}
    if not messages:
        return {"metrics": "none were sent"}
    exported = {it.name: it for it in messages[-1].resource_metrics[0].scope_metrics[0].metrics}
    kinds = {"counter": "sum", "gauge": "gauge", "histogram": "histogram"}
    for family in plain_text(page):
        if not family.samples:
            continue
        name = family.name + ("_total" if family.type == "counter" else "")
        metric = exported.get(name)
        if metric is None or metric.WhichOneof("data") != kinds[family.type]:
            found[f"metric-{name}"] = "is not there" if metric is None else metric.WhichOneof("data")
            continue
        if (metric.unit == "s") != ("_seconds" in name) or (metric.unit == "By") != ("_bytes" in name):
            found[f"unit-{name}"] = metric.unit
        data = getattr(metric, metric.WhichOneof("data"))
        if family.type != "gauge" and data.aggregation_temporality != AGGREGATION_TEMPORALITY_CUMULATIVE:
            found[f"temporality-{name}"] = str(data.aggregation_temporality)
        if family.type == "counter" and not data.is_monotonic:
            found[f"monotonic-{name}"] = "is not"
        for point in data.data_points:
            if family.type != "gauge" and not 0 < point.start_time_unix_nano < point.time_unix_nano:
                found[f"times-{name}"] = f"{point.start_time_unix_nano} to {point.time_unix_nano}"
            if family.type == "histogram" and (len(point.bucket_counts) != len(point.explicit_bounds) + 1
                                               or sum(point.bucket_counts) != point.count):
                found[f"buckets-{name}"] = str(point)
    return found


def logs(messages):
    found = {}
    records = [it for message in messages for it in message.resource_logs[0].scope_logs[0].log_records]
    if not all(it.time_unix_nano and it.observed_time_unix_nano and it.severity_number and it.body.string_value for it in records):
        found["records"] = str(records)
    if not any(it.body.string_value.startswith("resources: ") for it in records):
        found["lines"] = "the server's own are not there"
    if not any(it.trace_id for it in records):
        found["requests"] = "none has its trace"
    return found
