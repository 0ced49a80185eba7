"""sbom.py TARGET VERSION PRODUCT: the bill of materials in CycloneDX 1.5, to standard output."""

import datetime
import hashlib
import json
import os
import sys
import uuid

import crates


def main(target, version, product):
    root, packages, needs = crates.read(target, product)
    libraries = list(crates.libraries(packages))
    reference = {package: purl(found) for package, found in packages.items()}
    components = [crate(found) for package, found in packages.items() if package != root["id"]]
    components += [native(library, carrier) for library, carrier in libraries]
    depends = {reference[package]: [reference[need] for need in needs[package]] for package in packages}
    for library, carrier in libraries:
        depends[purl(carrier)].append(native(library, carrier)["bom-ref"])
        depends[native(library, carrier)["bom-ref"]] = []
    bom = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "metadata": {
            "timestamp": datetime.datetime.fromtimestamp(
                int(os.environ["SOURCE_DATE_EPOCH"]), datetime.timezone.utc).isoformat(),
            "component": {**crate(root), "type": "application", "name": product, "version": version},
        },
        "components": sorted(components, key=lambda component: component["bom-ref"]),
        "dependencies": [{"ref": ref, "dependsOn": sorted(set(needed))} for ref, needed in sorted(depends.items())],
    }
    # The same bill gets the same serial number.
    digest = hashlib.sha256(json.dumps(bom, sort_keys=True).encode()).digest()
    bom["serialNumber"] = f"urn:uuid:{uuid.UUID(bytes=digest[:16], version=4)}"
    json.dump(bom, sys.stdout, indent=1)
    print()


def purl(package):
    return f"pkg:cargo/{package['name']}@{package['version']}".replace("+", "%2B")


def crate(package):
    component = {
        "type": "library",
        "bom-ref": purl(package),
        "name": package["name"],
        "version": package["version"],
        "purl": purl(package),
    }
    if package["license"]:
        # Old Cargo manifests separate alternative licences by a slash.
        component["licenses"] = [{"expression": package["license"].replace("/", " OR ")}]
    if package["description"]:
        component["description"] = " ".join(package["description"].split())
    if package["checksum"]:
        component["hashes"] = [{"alg": "SHA-256", "content": package["checksum"]}]
    if package["repository"]:
        component["externalReferences"] = [{"type": "vcs", "url": package["repository"]}]
    return component


def native(library, carrier):
    version = library.version(carrier)
    return {
        "type": "library",
        "bom-ref": f"pkg:generic/{library.name}@{version}",
        "name": library.name,
        "version": version,
        "purl": f"pkg:generic/{library.name}@{version}",
        "licenses": [{"expression": library.licence}],
        "description": f"C or C++ library in the crate {carrier['name']}",
        "externalReferences": [{"type": "website", "url": library.homepage}],
    }


main(*sys.argv[1:])
