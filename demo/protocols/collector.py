"""Tests that the OpenTelemetry Collector, configured as in docs/opentelemetry.md, receives all three signals: over http, and over https with a key."""
import re
from http.client import HTTPConnection

from nginx import free_port
from server import ROOT, Program, Server, tls_keys

TRACE = "0af7651916cd43dd8448eb211c80319c"
# What the collector's exporter `debug` prints for each signal at full verbosity.
SIGNALS = {
    "traces": [f"Trace ID       : {TRACE}", "http.request.method: Str(GET)", "andon.recipe: Str(fit:100x100)", "service.name: Str(thumbnails)"],
    "metrics": ["Name: andon_requests_total", "DataType: Histogram", "IsMonotonic: true", "AggregationTemporality: Cumulative"],
    "logs": ["SeverityText: INFO", "Body: Str(resources: ", f"Trace ID: {TRACE}"],
}


def check(args, folder):
    tls_keys(folder)
    for scheme in "http", "https":
        port = free_port()
        text = printed_configuration().replace("127.0.0.1:4318", f"127.0.0.1:{port}")
        if scheme == "https":
            text = text.replace("}", f', tls: {{cert_file: "{folder}/cert.pem", key_file: "{folder}/key.pem"}}}}', 1)
        # The collector's own metrics would use a port that may not be free.
        text = text.replace("service:\n", "service:\n  telemetry: {metrics: {level: none}}\n")
        (folder / "collector.yaml").write_text(text)
        with Program(folder, port, [args.collector, "--config", "collector.yaml"]):
            ask_under_trace(args.andon, folder, f"{scheme}://localhost:{port}")
        said = (folder / "program.log").read_text()
        found = {f"{signal}: {line}": "was not received" for signal, lines in SIGNALS.items() for line in lines if line not in said}
        # `Program` has connected once without TLS, to check whether the collector listens.
        if refused := [line for line in re.findall(r"^\S+\s(?:warn|error)\s.*", said, re.M) if "handshake error" not in line]:
            found["refused"] = refused[0]
        yield f"collector-{scheme}", sum(map(len, SIGNALS.values())), found


def ask_under_trace(andon, folder, url):
    """Serves one image as part of a trace. Everything has been exported once the server has ended."""
    keys = (f'listen = ["127.0.0.1:0"]\n[otlp]\nurl = "{url}"\naccess_log = true\nca = "{folder}/authority.pem"\n'
            'resource = { "service.name" = "thumbnails" }\n')
    with Server(andon, folder, keys) as server:
        connection = HTTPConnection("127.0.0.1", server.port("http"))
        connection.request("GET", "/r/fit:100x100/otter.jpg", headers={"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"})
        assert connection.getresponse().status == 200


def printed_configuration():
    page = (ROOT / "docs/opentelemetry.md").read_text()
    return re.search(r"```yaml\n(# otelcol .*?)```", page, re.S)[1]
