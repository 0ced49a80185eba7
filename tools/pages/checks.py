"""Checks of blocks that are neither commands nor configurations of Andon: the program that they are for must be able to read them."""

import json
import pathlib
import re
import shutil
import urllib.request

import fixtures
import room


class Missing(Exception):
    """A program that is not installed."""


class Refused(Exception):
    """The error of the program that could not read a block."""


def program(*words, prefix="", suffix="", name="block"):
    """Returns a check by a program that takes the name of a file."""

    def check(page, block):
        if shutil.which(words[0]) is None:
            raise Missing(words[0])
        path = pathlib.Path("/tmp") / name
        text = block.text if block.text.startswith(prefix.strip() or "\0") else prefix + block.text + suffix
        path.write_text(text)
        done = page.command([*words, str(path)])
        if done.returncode != 0:
            raise Refused(f"{words[0]}: {done.stdout}{done.stderr}")

    return check


def is_json(page, block):
    text = block.text.strip()
    try:
        json.loads(text if text[0] in "{[" else f"{{{text}}}")
    except json.JSONDecodeError as error:
        raise Refused(error) from None


def is_python(page, block):
    try:
        compile(block.text, page.name, "exec")
    except SyntaxError as error:
        raise Refused(error) from None


def is_yaml(page, block):
    try:
        import yaml
    except ModuleNotFoundError:
        raise Missing("python3-yaml") from None
    try:
        documents = [document for document in yaml.safe_load_all(block.text) if document is not None]
    except yaml.YAMLError as error:
        raise Refused(error) from None
    if not documents:
        raise Refused("there is nothing in it")
    for document in documents:
        configuration(page, document)
        if "serviceAccount" in document or "config" in document:
            values(document, yaml)
        if "services" in document:
            compose(document)
        if "configs" in document:
            cached_by_nginx(page, document["configs"])


def configuration(page, document):
    """Checks an andon.toml below `config`, or the files of `configs` in a compose file."""
    texts = [document.get("config")]
    texts += [(room.REPOSITORY / entry["file"]).read_text() for entry in document.get("configs", {}).values()]
    for text in texts:
        if not isinstance(text, str):
            continue
        if "events {" in text:
            pathlib.Path("/tmp/nginx.conf").write_text(text)
            if shutil.which("nginx") and (done := page.command(["nginx", "-t", "-g", "user root;", "-c", "/tmp/nginx.conf"])).returncode:
                raise Refused(f"nginx: {done.stderr}")
            continue
        fixtures.of_configuration(text, page.environment)
        for folder in re.findall(r'"(/cache|/pictures)"', text):
            pathlib.Path(folder).mkdir(exist_ok=True)
        pathlib.Path("/tmp/inside.toml").write_text(text)
        done = page.command(["andon", "config", "check", "/tmp/inside.toml"])
        if done.returncode != 0:
            raise Refused(f"andon config check: {done.stderr}")


def values(document, yaml):
    """Checks values of the chart: their names must be those of values.yaml, two levels deep."""
    known = yaml.safe_load((room.REPOSITORY / "contrib/helm/andon/values.yaml").read_text())
    for key, value in document.items():
        if key not in known:
            raise Refused(f"the chart has no value {key}")
        if isinstance(value, dict) and isinstance(known[key], dict) and known[key]:
            for inner in value:
                if inner not in known[key]:
                    raise Refused(f"the chart has no value {key}.{inner}")


SERVICE = {"image", "build", "command", "ports", "volumes", "environment", "depends_on", "configs", "read_only", "cap_drop", "security_opt",
           "tmpfs", "restart", "healthcheck", "entrypoint", "user", "mem_limit", "cpus", "init", "profiles", "labels"}


def compose(document):
    """Checks the structure of a compose file: known keys, and references to definitions that exist."""
    services = document["services"]
    for name, service in services.items():
        unknown = set(service) - SERVICE
        if unknown:
            raise Refused(f"service {name} has {', '.join(sorted(unknown))}, which nothing here knows")
        if not {"image", "build"} & set(service):
            raise Refused(f"service {name} has neither an image nor a build")
        for other in service.get("depends_on", []):
            if other not in services:
                raise Refused(f"service {name} depends on {other}, which is not there")
        for volume in service.get("volumes", []):
            source = volume.split(":")[0]
            if re.fullmatch(r"[\w-]+", source) and source not in document.get("volumes", {}):
                raise Refused(f"volume {source} of service {name} is not declared")
        for entry in service.get("configs", []):
            if entry["source"] not in document.get("configs", {}):
                raise Refused(f"configuration {entry['source']} of service {name} is not declared")


def cached_by_nginx(page, configs):
    """Starts the services of a compose file: Andon at its address, and nginx, which must cache an image for its second request."""
    files = {name: room.REPOSITORY / entry["file"] for name, entry in configs.items()}
    if shutil.which("nginx") is None:
        raise Missing("nginx")
    fixtures.images("/pictures")
    page.start_server(f"andon serve --config {files['andon.toml']}")
    page.run_nginx("nginx", "-g", "user root; daemon off;", "-c", str(files["nginx.conf"]))
    seen = []
    for _ in range(2):
        with urllib.request.urlopen("http://127.0.0.1/r/fit:250x250/trip/a.jpg", timeout=20) as response:
            seen.append(response.headers["X-Cache"])
    if seen != ["MISS", "HIT"]:
        raise Refused(f"nginx's cache says {seen}")


def dockerfile(page, block):
    """Checks that user, ports and command are those of the image that ./dev release builds."""
    layout = (room.REPOSITORY / "packaging/image/layout.py").read_text()
    said = dict(re.findall(r"^(USER|EXPOSE|STOPSIGNAL|ENTRYPOINT|CMD) (.*)$", block.text.split("FROM scratch")[-1], re.M))
    released = {
        "USER": re.search(r'"User": "(.*)"', layout)[1],
        "EXPOSE": " ".join(re.findall(r'"(\d+)/tcp"', layout)),
        "STOPSIGNAL": re.search(r'"StopSignal": "(.*)"', layout)[1],
        "ENTRYPOINT": re.search(r'"Entrypoint": (.*),', layout)[1],
        "CMD": re.search(r'"Cmd": (.*),', layout)[1],
    }
    if said != released:
        raise Refused(f"{said} is not {released}, which packaging/image/layout.py has")


CHECKERS = {
    "dockerfile": dockerfile,
    "json": is_json,
    "yaml": is_yaml,
    "python": is_python,
    "php": program("php", "-l", prefix="<?php\n", name="block.php"),
    "ruby": program("ruby", "-c", name="block.rb"),
    "js": program("node", "--check", name="block.mjs"),
    "ts": program("node", "--check", name="block.mjs"),
    "caddy": program("caddy", "validate", "--adapter", "caddyfile", "--config", name="Caddyfile"),
    "vcl": program("varnishd", "-j", "none", "-C", "-f", name="default.vcl"),
    "haproxy": program("haproxy", "-c", "-f", name="haproxy.cfg"),
}
