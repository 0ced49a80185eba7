"""Checks TLS with testssl.sh and with sslyze, which compares with Mozilla's "intermediate" configuration."""
import json, shutil, subprocess, sys
from pathlib import Path

from server import Server, tls_keys


def check(args, folder):
    with Server(args.andon, folder, 'listen = ["127.0.0.1:0"]\n' + tls_keys(folder)) as server:
        port = server.port("https")
        yield "testssl", *testssl(folder, f"127.0.0.1:{port}")
        yield "sslyze", *sslyze(folder, f"localhost:{port}")


def testssl(folder, address):
    """Returns the number of checks of testssl.sh, and the findings that are neither OK nor informative."""
    report = folder / "testssl.json"
    said = subprocess.run(["testssl", "--warnings", "batch", "--color", "0", "--quiet", "--openssl", shutil.which("openssl"),
                           "--add-ca", folder / "authority.pem", "--jsonfile", report, address],
                          capture_output=True, text=True)
    assert report.exists(), said.stdout + said.stderr
    checks = json.loads(report.read_text())
    return len(checks), {check["id"]: check["finding"] for check in checks if check["severity"] not in ("OK", "INFO")}


def sslyze(folder, address):
    """Returns the number of completed scans of sslyze, and its verdict if Mozilla's configuration is not met."""
    report = folder / "sslyze.json"
    program = Path(sys.executable).with_name("sslyze")
    said = subprocess.run([program, "--mozilla_config=intermediate", "--certinfo_ca_file", folder / "authority.pem",
                           "--json_out", report, address], capture_output=True, text=True)
    assert report.exists(), said.stdout + said.stderr
    [result] = json.loads(report.read_text())["server_scan_results"]
    scans = [scan for scan in result["scan_result"].values() if scan["status"] == "COMPLETED"]
    verdict = said.stdout.split("COMPLIANCE AGAINST TLS CONFIGURATION")[1]
    return len(scans), {} if "OK - Compliant" in verdict else {"mozilla": verdict}
