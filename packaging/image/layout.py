"""layout.py LAYER.tar ARCHITECTURE VERSION FOLDER: an image of one layer as an OCI image layout. No daemon and no tool
but this is needed: an image is a few JSON files that name each other by their SHA-256."""

import datetime
import gzip
import hashlib
import json
import os
import pathlib
import sys


def main(layer, architecture, version, folder):
    folder = pathlib.Path(folder)
    blobs = folder / "blobs/sha256"
    blobs.mkdir(parents=True)
    created = datetime.datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc)
    created = created.strftime("%Y-%m-%dT%H:%M:%SZ")

    def blob(kind, content):
        """Stores a blob and returns its descriptor."""
        if not isinstance(content, bytes):
            content = json.dumps(content, sort_keys=True).encode()
        digest = hashlib.sha256(content).hexdigest()
        (blobs / digest).write_bytes(content)
        return {"mediaType": f"application/vnd.oci.image.{kind}", "digest": f"sha256:{digest}", "size": len(content)}

    tar = pathlib.Path(layer).read_bytes()
    packed = blob("layer.v1.tar+gzip", gzip.compress(tar, 9, mtime=0))
    config = blob("config.v1+json", {
        "created": created,
        "architecture": architecture,
        "os": "linux",
        "config": {
            "User": "65532:65532",
            "ExposedPorts": {"8080/tcp": {}, "9180/tcp": {}},
            "Entrypoint": ["/usr/bin/andon"],
            "Cmd": ["serve", "--config", "/etc/andon/andon.toml"],
            "WorkingDir": "/",
            "StopSignal": "SIGTERM",
            # Docker's extension of the specification, in nanoseconds. Podman and Kubernetes ignore it.
            "Healthcheck": {
                "Test": ["CMD", "/usr/bin/andon", "healthcheck", "--config", "/etc/andon/andon.toml"],
                "Interval": 30_000_000_000,
                "Timeout": 5_000_000_000,
                "StartPeriod": 10_000_000_000,
                "Retries": 3,
            },
            "Labels": {
                "org.opencontainers.image.title": "andon",
                "org.opencontainers.image.description": "On-the-fly image server",
                "org.opencontainers.image.version": version,
                "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
            },
        },
        "rootfs": {"type": "layers", "diff_ids": [f"sha256:{hashlib.sha256(tar).hexdigest()}"]},
        "history": [{"created": created, "created_by": "packaging/image"}],
    })
    manifest = blob("manifest.v1+json", {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": config,
        "layers": [packed],
    })
    # The tag in the layout, and the name of the image after `podman load` and `docker load`.
    manifest["annotations"] = {
        "org.opencontainers.image.ref.name": version,
        "io.containerd.image.name": f"docker.io/library/andon:{version}",
    }
    manifest["platform"] = {"architecture": architecture, "os": "linux"}
    index = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [manifest],
    }
    (folder / "index.json").write_text(json.dumps(index, sort_keys=True))
    (folder / "oci-layout").write_text('{"imageLayoutVersion": "1.0.0"}')


main(*sys.argv[1:])
