"""Checks /metrics with the parsers of prometheus_client: the text format, and OpenMetrics with its exemplars."""
import re
from http.client import HTTPConnection

from prometheus_client.openmetrics.parser import text_string_to_metric_families as open_metrics
from prometheus_client.parser import text_string_to_metric_families as plain_text
from server import Server

TRACE = "0af7651916cd43dd8448eb211c80319c"
OPEN_METRICS = "application/openmetrics-text; version=1.0.0"


def check(args, folder):
    with Server(args.andon, folder, 'listen = ["127.0.0.1:0"]\nmetrics.allow = "all"') as server:
        def get(target, **headers):
            connection = HTTPConnection("127.0.0.1", server.port("http"))
            connection.request("GET", target, headers=headers)
            response = connection.getresponse()
            assert response.status == 200, response.status
            return response.read().decode(errors="replace"), response.headers["content-type"]

        get("/r/fit:100x100/otter.jpg", traceparent=f"00-{TRACE}-b7ad6b7169203331-01")
        plain, _ = get("/metrics")
        page, kind = get("/metrics", accept=OPEN_METRICS)
    # The parsers raise an exception with the line that breaks a rule.
    samples = [sample for family in open_metrics(page) for sample in family.samples]
    found = {}
    if not kind.startswith("application/openmetrics-text"):
        found["content-type"] = kind
    if TRACE not in [sample.exemplar.labels.get("trace_id") for sample in samples if sample.exemplar]:
        found["exemplar"] = "no bucket names the traced request"
    names = lambda families: {re.sub("_total$", "", family.name) for family in families}
    if names(plain_text(plain)) != names(open_metrics(page)):
        found["families"] = "differ between the two formats"
    yield "prometheus_client", len(samples), found
