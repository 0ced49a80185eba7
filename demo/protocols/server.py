"""Servers on loopback: Andon, with a certificate signed by a private authority, and other programs."""
import os, re, shutil, signal, subprocess, time
from pathlib import Path
from socket import create_connection

ROOT = Path(__file__).resolve().parent.parent.parent
SAMPLE = ROOT / "samples/photos/otter.jpg"


class Server:
    """Starts Andon. `folder` gets the configuration, and a copy of the sample in `pictures`. `keys` are prepended to it, `variables` added to the environment."""

    def __init__(self, andon, folder, keys, name="andon", variables={}):
        images = folder / "pictures"
        images.mkdir(exist_ok=True)
        shutil.copyfile(SAMPLE, images / "otter.jpg")
        config = folder / f"{name}.toml"
        config.write_text(f'{keys}\n[[origin]]\nfs.root = "{images}"\n')
        self.log = folder / f"{name}.log"
        self.process = subprocess.Popen([andon, "serve", "--config", config], stdout=subprocess.PIPE,
                                        stderr=self.log.open("w"), text=True, env=os.environ | variables)
        self.announced = self.process.stdout.readline()
        if not self.announced:
            raise SystemExit(f"the server did not start:\n{self.log.read_text()}")

    def port(self, scheme):
        return int(re.search(rf"{scheme}://127\.0\.0\.1:(\d+)", self.announced)[1])

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait()


class Program:
    """A server in the foreground. The constructor waits until it accepts connections."""

    def __init__(self, folder, port, command):
        self.log = (folder / "program.log").open("w+")
        self.process = subprocess.Popen(command, cwd=folder, stdout=self.log, stderr=self.log)
        while True:
            try:
                return create_connection(("127.0.0.1", port)).close()
            except OSError:
                if self.process.poll() is not None:
                    raise SystemExit((folder / "program.log").read_text())
                time.sleep(0.02)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait()


def tls_keys(folder):
    """Creates authority.pem and a certificate for localhost. Returns the configuration keys that name the certificate."""
    def openssl(*args):
        subprocess.run(["openssl", *args], cwd=folder, check=True, capture_output=True)
    new = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes"]
    openssl("req", "-x509", *new, "-keyout", "authority.key", "-out", "authority.pem", "-days", "365",
            "-subj", "/CN=Test authority", "-addext", "keyUsage=critical,keyCertSign,cRLSign")
    openssl("req", *new, "-keyout", "key.pem", "-out", "request.pem", "-subj", "/CN=localhost")
    (folder / "extensions").write_text(EXTENSIONS)
    openssl("x509", "-req", "-in", "request.pem", "-CA", "authority.pem", "-CAkey", "authority.key", "-days", "365",
            "-extfile", "extensions", "-out", "cert.pem")
    return f'[tls]\nlisten = ["127.0.0.1:0"]\ncertificate = "{folder}/cert.pem"\nkey = "{folder}/key.pem"\n'


EXTENSIONS = """\
subjectAltName = DNS:localhost, IP:127.0.0.1
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth
authorityKeyIdentifier = keyid
"""
