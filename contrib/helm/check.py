"""check.py HELM ANDON: lints and renders the chart for each ci/*.yaml, validates every object against the schemas of several
versions of Kubernetes, and the configuration with `andon config check`. Nothing is asked of a network."""

import os
import pathlib
import subprocess
import sys
import tempfile

import kubernetes_validate
import yaml

CHART = pathlib.Path(__file__).parent / "andon"
# The oldest of the chart's kubeVersion, the newest that has schemas here, and one between.
VERSIONS = ["1.27", "1.31", kubernetes_validate.latest_version()]


def main(helm, andon):
    wrong_values_are_refused(helm)
    a_volume_without_room_for_the_disk_cache_is_refused(helm)
    ports_that_the_configuration_does_not_have_are_variables(helm)
    for values in [None, *sorted(CHART.glob("ci/*-values.yaml"))]:
        arguments = ["--values", str(values)] if values else []
        for version in VERSIONS:
            run(helm, "lint", "--strict", "--quiet", "--kube-version", version, str(CHART), *arguments)
            objects = render(helm, version, *arguments)
            for found in objects:
                # Schemas of the Prometheus Operator's objects are not those of Kubernetes: check_monitoring looks at them.
                if not found["apiVersion"].startswith("monitoring.coreos.com/"):
                    kubernetes_validate.validate(found, version, strict=True)
        check_references(objects)
        check_pod(objects)
        check_ways_in(objects)
        check_monitoring(objects)
        check_configuration(objects, andon)
        kinds = ", ".join(found["kind"] for found in objects)
        print(f"chart: {values.name if values else 'defaults'}: {kinds} valid for Kubernetes {', '.join(VERSIONS)}")


def run(*command):
    # Apart from each other: Helm says on standard error that the rules are a symbolic link.
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}:\n{done.stdout}{done.stderr}")
    return done.stdout


def render(helm, version, *arguments):
    text = run(helm, "template", "photos", str(CHART), "--namespace", "web", "--kube-version", version, *arguments)
    return [found for found in yaml.safe_load_all(text) if found]


def wrong_values_are_refused(helm):
    for wrong in ["resources.cpu=1500m", "ingress.host=a.example", "pictures.size=100", "replica=3", "ports.http=80", "terminationGracePeriodSeconds=10"]:
        command = [helm, "template", "photos", str(CHART), "--kube-version", VERSIONS[0], "--set", wrong]
        done = subprocess.run(command, capture_output=True, text=True)
        assert "values don't meet the specifications of the schema" in done.stderr, (wrong, done)


def a_volume_without_room_for_the_disk_cache_is_refused(helm):
    imported = ["--values", str(CHART / "ci/imported-values.yaml")]
    for arguments, disk in [
        (["--set", "cache.sizeLimit=8Gi"], "8GiB"),
        ([*imported, "--set", "cache.disk=1TiB"], "1TiB"),
        ([*imported, "--set", "cache.sizeLimit=2000Mi"], "8GiB"),
    ]:
        command = [helm, "template", "photos", str(CHART), "--kube-version", VERSIONS[0], *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        assert f"has to be more than the disk cache, {disk}," in done.stderr, (arguments, done)
    for arguments in [["--set", "cache.sizeLimit=9Gi"], [*imported, "--set", "cache.sizeLimit=1Ti"],
                      [*imported, "--set", "cache.disk=,cache.sizeLimit=64Mi"]]:
        render(helm, VERSIONS[0], *arguments)


def ports_that_the_configuration_does_not_have_are_variables(helm):
    for arguments, expected in [
        ([], {}),
        (["--set", "ports.metrics=9999"], {"ANDON_METRICS__LISTEN": "0.0.0.0:9999"}),
        (["--set", "ports.http=8090"], {"ANDON_LISTEN": "0.0.0.0:8090"}),
        (["--values", str(CHART / "ci/imported-values.yaml")],
         {"ANDON_LISTEN": "0.0.0.0:8080", "ANDON_METRICS__LISTEN": "0.0.0.0:9180", "ANDON_TIMEOUTS__GRACE": "10s",
          "ANDON_CACHE__DISK": '{ path = "/cache", size = "8GiB" }'}),
        (["--values", str(CHART / "ci/imported-values.yaml"), "--set", "cache.disk=", "--set", "ports.http=8090"],
         {"ANDON_LISTEN": "0.0.0.0:8090", "ANDON_METRICS__LISTEN": "0.0.0.0:9180", "ANDON_TIMEOUTS__GRACE": "10s"}),
    ]:
        assert variables(container(render(helm, VERSIONS[0], *arguments))) == expected, arguments


def container(objects):
    return only(objects, "Deployment")["spec"]["template"]["spec"]["containers"][0]


def variables(container):
    """The variables of Andon with their values."""
    return {it["name"]: it["value"] for it in container.get("env", []) if it["name"].startswith("ANDON_")}


def only(objects, kind):
    found = [it for it in objects if it["kind"] == kind]
    assert len(found) == 1, (kind, found)
    return found[0]


def check_references(objects):
    """What refers to the pods finds them, and everything is in the release's namespace."""
    deployment = only(objects, "Deployment")
    labels = deployment["spec"]["template"]["metadata"]["labels"].items()
    selectors = [deployment["spec"]["selector"]["matchLabels"]]
    for found in objects:
        assert found["metadata"]["namespace"] == "web", found
        if found["kind"] == "Service":
            selectors.append(found["spec"]["selector"])
        if found["kind"] == "PodDisruptionBudget":
            selectors.append(found["spec"]["selector"]["matchLabels"])
        if found["kind"] == "NetworkPolicy":
            selectors.append(found["spec"]["podSelector"]["matchLabels"])
        if found["kind"] == "HorizontalPodAutoscaler":
            assert found["spec"]["scaleTargetRef"]["name"] == deployment["metadata"]["name"]
            assert "replicas" not in deployment["spec"], "two would decide how many pods there are"
    for selector in selectors:
        assert selector and selector.items() <= labels, selector


def check_pod(objects):
    """It is locked down, and probes, ports and volumes name what is there."""
    pod = only(objects, "Deployment")["spec"]["template"]["spec"]
    container = pod["containers"][0]
    security = container["securityContext"]
    assert pod["securityContext"]["runAsNonRoot"] and pod["securityContext"]["runAsUser"] == 65532
    assert pod["securityContext"]["seccompProfile"]["type"] == "RuntimeDefault"
    assert security["readOnlyRootFilesystem"] and not security["allowPrivilegeEscalation"]
    assert security["capabilities"] == {"drop": ["ALL"]}
    assert container["resources"]["requests"] == container["resources"]["limits"]
    ports = {port["name"] for port in container["ports"]}
    paths = {"startupProbe": "/readyz", "readinessProbe": "/readyz", "livenessProbe": "/healthz"}
    for probe, path in paths.items():
        asked = container[probe]["httpGet"]
        assert asked["path"] == path and asked["port"] in ports, (probe, asked)
    assert {mount["name"] for mount in container["volumeMounts"]} == {volume["name"] for volume in pod["volumes"]}
    claims = {found["metadata"]["name"] for found in objects if found["kind"] == "PersistentVolumeClaim"}
    named = {volume["persistentVolumeClaim"]["claimName"] for volume in pod["volumes"] if "persistentVolumeClaim" in volume}
    assert claims <= named, (claims, named)


def named(objects, kind):
    return [found for found in objects if found["kind"] == kind]


def check_ways_in(objects):
    """The Ingress leads to a port of a Service that is there."""
    services = {found["metadata"]["name"]: found for found in named(objects, "Service")}
    for ingress in named(objects, "Ingress"):
        assert ingress["spec"]["rules"], ingress
        for rule in ingress["spec"]["rules"]:
            for path in rule["http"]["paths"]:
                backend = path["backend"]["service"]
                ports = {port["name"] for port in services[backend["name"]]["spec"]["ports"]}
                assert backend["port"]["name"] in ports, backend


def check_monitoring(objects):
    """The monitor finds a port of a Service, with the job that the rules expect, and the rules are those of contrib/prometheus, each
    with a link to its section of docs/alerts.md or without any link."""
    for monitor in named(objects, "ServiceMonitor"):
        selector = monitor["spec"]["selector"]["matchLabels"].items()
        found = [it for it in named(objects, "Service") if selector <= it["metadata"]["labels"].items()]
        ports = {port["name"] for service in found for port in service["spec"]["ports"]}
        assert {endpoint["port"] for endpoint in monitor["spec"]["endpoints"]} <= ports, monitor
        assert {service["metadata"]["labels"][monitor["spec"]["jobLabel"]] for service in found} == {"andon"}, found
    text = (CHART.parents[1] / "prometheus/andon.rules.yml").read_text()
    without = "\n".join(line for line in text.splitlines() if "runbook_url:" not in line)
    pages = text.replace("docs/alerts.md#", "https://git.example.com/andon/docs/alerts.md#")
    for rule in named(objects, "PrometheusRule"):
        assert rule["spec"] in [yaml.safe_load(it) for it in (without, pages)], "other rules"


def check_configuration(objects, andon):
    """The server takes it, and listens at the container's ports."""
    text = only(objects, "ConfigMap")["data"]["andon.toml"]
    variables_here = variables(container(objects))
    for port in container(objects)["ports"]:
        address = f'0.0.0.0:{port["containerPort"]}'
        assert f'{address}"' in text or address in variables_here.values(), (port, text)
    with tempfile.TemporaryDirectory() as folder:
        # Folders of the pod are not here.
        for name in ["cache", "pictures"]:
            os.mkdir(f"{folder}/{name}")
            text = text.replace(f'"/{name}"', f'"{folder}/{name}"')
            variables_here = {key: value.replace(f'"/{name}"', f'"{folder}/{name}"') for key, value in variables_here.items()}
        file = pathlib.Path(folder, "andon.toml")
        file.write_text(text)
        secrets = {name: "0123456789abcdef0123456789abcdef" for name in
                   ["ANDON_TOKEN", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"]}
        done = subprocess.run([andon, "config", "check", file], capture_output=True, text=True,
                              env={**os.environ, **secrets, **variables_here})
        assert done.returncode == 0, done.stderr


main(*sys.argv[1:])
