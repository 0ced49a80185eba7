"""Runs the blocks of one page in their order, in one working directory."""

import os
import re
import shlex
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request

import blocks
import checks
import fixtures
import room

SERVER = re.compile(r"^((?:\w+=\S+ )*)andon (serve|play)\b")
# The status that a comment declares: "# 403", "# 200, image/avif".
STATUS = re.compile(r"^#\s*(\d{3})\b(?:, (\w+/[\w.+-]+))?")
REPORTED = re.compile(r"^HTTP (\d{3}) (\S*).*$", re.M)
NEEDS_SERVER = re.compile(r"\bcurl\b|\bandon (purge|warm|shadow)\b|\bpidof andon\b|\bandon-lab capacity\b")
# A URL at the standard port is the proxy's, not Andon's.
NEEDS_PROXY = re.compile(r"http://(?:127\.0\.0\.1|localhost)/")
IMAGE = re.compile(r'\b(?:src|srcset)="([^"]+)"')
SECONDS = 20


class Wrong(Exception):
    """The statement on a page and the result differ."""


class Page:
    def __init__(self, name, text):
        self.name, self.blocks = name, blocks.blocks(text)
        self.environment, self.server, self.nginx, self.served = dict(os.environ), None, None, None
        self.ran, self.left_out, self.missing, self.without_proxy = 0, [], [], False
        self.elsewhere = blocks.ELSEWHERE.findall(text)

    def run(self):
        """Returns the faults of the page, each with its line."""
        room.empty()
        fixtures.of_every_page()
        fixtures.of_page(self)
        faults = []
        for block in self.blocks:
            try:
                self.run_block(block)
            except checks.Missing as program:
                self.ran -= 1
                self.missing.append(f"{self.name}:{block.line}: {program} is not installed")
            except Wrong as wrong:
                faults.append(f"{self.name}:{block.line}: {wrong}")
        self.stop()
        return faults

    def run_block(self, block):
        # After `sh`, the commands to leave out may be listed: "`systemctl`, `dnf`: …".
        named = re.match(r"^((?:`[^`]+`(?:, | and )?)+):", block.not_run)
        if block.not_run and not named:
            self.left_out.append(f"{self.name}:{block.line}: {block.not_run}")
            return
        left_out = re.findall(r"`([^`]+)`", named[1]) if named else []
        if named:
            self.left_out.append(f"{self.name}:{block.line}: {block.not_run}")
        self.ran += 1
        if block.file and block.language not in ("sh", "console"):
            self.write(block.file, block.text)
        match block.language:
            case "sh":
                self.run_statements(block, left_out)
            case "console":
                self.run_commands(block, left_out)
            case "toml":
                self.configure(block)
            case "nginx":
                self.start_nginx(block)
            case "html":
                self.fetch_all([part.split()[0] for list_ in IMAGE.findall(block.text) for part in list_.split(", ")])
            case "" if all(line.startswith("/") for line in block.text.splitlines()):
                self.fetch_all(block.text.splitlines())
            case "text":
                self.ran -= 1
            case "python" if self.elsewhere:
                pass
            case language:
                self.check(language, block)

    def check(self, language, block):
        checker = checks.CHECKERS.get(language)
        if checker is None:
            raise Wrong(f"a block of {language or 'no language'} that nothing checks: mark it `not run`, with the reason")
        try:
            checker(self, block)
        except checks.Refused as refused:
            raise Wrong(refused) from None

    def write(self, name, text):
        path = room.WORK / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    # Configurations

    def configure(self, block):
        """Returns the block as an andon.toml: a complete one, tables without an origin, or an addition to the previous block."""
        path = room.WORK / "andon.toml"
        before = path.read_text() if path.exists() else ""
        candidates = [block.text]
        if not block.text.startswith("[") and "listen" not in block.text:
            candidates = [before + block.text]
        elif "[[origin]]" not in block.text:
            candidates = [block.text + '\n[[origin]]\nfs.root = "photos"\n', before + "\n" + block.text]
        said = []
        for text in candidates:
            fixtures.of_configuration(text, self.environment)
            path.write_text(text)
            done = self.execute("andon config check andon.toml")
            if done.returncode == 0:
                if block.other:
                    path.write_text(before)
                return
            said.append(done.stderr)
        raise Wrong(f"andon config check: {said[0]}")

    # Commands

    def run_statements(self, block, left_out):
        for statement, comment in blocks.statements(block.text):
            if any(statement == name or statement.startswith(f"{name} ") for name in left_out):
                continue
            if self.lacks_proxy(block, statement):
                continue
            if SERVER.match(statement):
                self.start_server(statement)
                continue
            self.ensure_server(statement)
            done = self.execute(statement)
            self.judge(statement, comment, done)

    def judge(self, statement, comment, done):
        output = f"{done.stdout}{done.stderr}"
        if done.returncode != 0:
            raise Wrong(f"`{statement}` ends with {done.returncode}:\n{output}{self.log()}")
        expected = STATUS.match(comment)
        reported = REPORTED.findall(done.stderr)
        for status, kind in reported:
            wanted, media = expected.groups() if expected else ("200", None)
            if status != wanted or media not in (None, kind):
                raise Wrong(f"`{statement}`: {status} {kind}, not {wanted} {media or ''}\n{output}{self.log()}")
        if expected and not reported:
            raise Wrong(f"`{statement}`: nothing reports the status {expected[1]}")

    def run_commands(self, block, left_out):
        for statement, expected in blocks.commands(block.text):
            if any(statement.startswith(f"{name} ") for name in left_out) or self.lacks_proxy(block, statement):
                continue
            if SERVER.match(statement):
                self.start_server(statement)
                continue
            self.ensure_server(statement)
            done = self.execute(statement)
            output = done.stdout + REPORTED.sub("", done.stderr).strip()
            if expected and not blocks.printed_as(expected, output):
                raise Wrong(f"`{statement}` prints\n{output}\nnot\n" + "\n".join(expected) + self.log())
            if not expected:
                self.judge(statement, "", done)

    def execute(self, statement):
        """Runs a statement with bash. Variables and the working directory stay for the next statement."""
        script = (f"[ ! -e /tmp/state ] || . /tmp/state 2>/dev/null\n{statement}\nstatus=$?\n"
                  "declare -p | grep -v '^declare -[a-zA-Z]*r' >/tmp/state; pwd >/tmp/folder; exit $status\n")
        try:
            folder = open("/tmp/folder").read().strip()
        except FileNotFoundError:
            folder = room.WORK
        return self.command(["bash", "-c", script], folder)

    def command(self, words, folder=room.WORK, text=None):
        try:
            return subprocess.run(words, cwd=folder, env=self.environment, capture_output=True, text=True, errors="replace", input=text,
                                  stdin=subprocess.DEVNULL if text is None else None, timeout=SECONDS)
        except subprocess.TimeoutExpired as late:
            raise Wrong(f"{words[-1]}: not finished after {late.timeout} s") from None

    # Servers

    def ensure_server(self, statement):
        """Starts a server with the page's configuration, if a statement needs one and none is running with it."""
        path = room.WORK / "andon.toml"
        if NEEDS_SERVER.search(statement) and path.exists() and self.served != path.read_text():
            self.start_server("andon serve --config andon.toml")

    def start_server(self, statement):
        self.stop_server()
        statement = re.sub(r"\s*&.*$|\s+#\s.*$", "", statement)
        path = room.WORK / "andon.toml"
        self.served = path.read_text() if path.exists() else None
        self.server = self.start(f"[ ! -e /tmp/state ] || . /tmp/state 2>/dev/null\n{statement}", "server.log")
        self.await_line(statement, "listening on|playground: ")

    def start(self, script, log):
        output = open(f"/tmp/{log}", "w")
        return subprocess.Popen(["bash", "-c", script], cwd=room.WORK, env=self.environment, stdin=subprocess.DEVNULL, stdout=output,
                                stderr=subprocess.STDOUT, start_new_session=True)

    def await_line(self, statement, pattern):
        deadline = time.monotonic() + SECONDS
        while time.monotonic() < deadline:
            if re.search(pattern, open("/tmp/server.log").read()):
                return
            if self.server.poll() is not None:
                raise Wrong(f"`{statement}` ends with {self.server.returncode}:{self.log()}")
            time.sleep(0.02)
        raise Wrong(f"`{statement}` does not start to listen:{self.log()}")

    def log(self):
        if self.server is None:
            return ""
        return "\n" + "\n".join(open("/tmp/server.log").read().splitlines()[-3:])

    def stop_server(self):
        end(self.server)
        self.server, self.served = None, None

    def stop(self):
        self.stop_server()
        end(self.nginx)
        fixtures.stop(self)

    def fetch_all(self, targets):
        self.ensure_server("curl")
        for target in targets:
            request = urllib.request.Request(f"http://127.0.0.1:8080{target}")
            try:
                with urllib.request.urlopen(request, timeout=SECONDS) as response:
                    if not response.headers["Content-Type"].startswith("image/"):
                        raise Wrong(f"{target}: {response.headers['Content-Type']}, not an image")
            except urllib.error.HTTPError as error:
                raise Wrong(f"{target}: {error.code} {error.read().decode(errors='replace')}{self.log()}") from None
            except OSError as error:
                raise Wrong(f"{target}: {error}") from None

    # nginx

    def start_nginx(self, block):
        """Lets nginx check the block, and starts it for the statements that follow."""
        text = block.text
        if not re.match(r"\s*(map|upstream|server|proxy_cache_path|geo)\b", text):
            text = f"server {{\nlisten 80;\n{text}\n}}\n"
        elif not re.search(r"^server \{", text, re.M):
            text += "server { listen 80; location / { proxy_pass http://andon; } }\n"
        path = room.pathlib.Path("/etc/nginx/nginx.conf")
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"user root; daemon off; error_log stderr; pid /run/nginx.pid;\nevents {{}}\nhttp {{\n{text}\n}}\n")
        try:
            done = self.command(["nginx", "-t"])
        except FileNotFoundError:
            self.without_proxy = True
            raise checks.Missing("nginx") from None
        if done.returncode != 0:
            raise Wrong(f"nginx -t: {done.stderr}")
        self.run_nginx("nginx")

    def lacks_proxy(self, block, statement):
        """Whether a statement asks the proxy that a block above configures, and that is not installed."""
        if not (self.without_proxy and NEEDS_PROXY.search(statement)):
            return False
        self.missing.append(f"{self.name}:{block.line}: `{statement}` needs nginx, which is not installed")
        return True

    def run_nginx(self, *command):
        """Starts nginx in the foreground, and waits until it listens."""
        end(self.nginx)
        self.nginx = self.start(f"exec {shlex.join(command)}", "nginx.log")
        deadline = time.monotonic() + SECONDS
        while self.nginx.poll() is None and time.monotonic() < deadline:
            try:
                return socket.create_connection(("127.0.0.1", 80)).close()
            except OSError:
                time.sleep(0.02)
        raise Wrong("nginx does not listen at port 80: " + open("/tmp/nginx.log").read())


def end(process):
    """Ends a process and the processes that it has started."""
    if process is not None and process.poll() is None:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
