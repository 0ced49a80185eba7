"""A separate root directory, network and process table for the commands that pages print.

Pages name the addresses and folders of a real machine: 127.0.0.1:8080, port 80, 10.0.0.7, /srv, /run/andon, ~/photos. In
namespaces of Linux all of them exist for one run, collide with nothing, and reach no network.
"""

import os
import pathlib
import shutil
import subprocess
import sys

ADDRESSES = ["10.0.0.1", "10.0.0.2", "10.0.0.7"]
HOSTS = "127.0.0.1 localhost andon minio\n10.0.0.7 imgproxy\n"
HOME = pathlib.Path("/home/you")
WORK = HOME / "work"
REPOSITORY = pathlib.Path("/repository")
# Folders to which pages write. They are empty at the start of each page.
CHANGED = ["/home/you", "/srv", "/run", "/tmp", "/var", "/etc/andon"]
NAMESPACES = ["unshare", "--user", "--map-root-user", "--net", "--mount", "--pid", "--fork", "--kill-child"]


def available():
    """Returns whether this machine allows namespaces and has the tools to set them up."""
    try:
        done = subprocess.run([*NAMESPACES, "sh", "-c", "mount -t proc proc /proc && ip link set lo up"], capture_output=True)
    except FileNotFoundError:
        return False
    return done.returncode == 0


def enter(arguments):
    """Starts this program again, inside the namespaces."""
    os.execvp(NAMESPACES[0], [*NAMESPACES, sys.executable, "-B", *arguments])


def furnish(repository, andon):
    """Creates the root directory and moves into it. `andon` is the binary under test."""
    run("mount", "-t", "proc", "proc", "/proc")
    run("ip", "link", "set", "lo", "up")
    for address in ADDRESSES:
        run("ip", "address", "add", f"{address}/32", "dev", "lo")
    # A folder that exists on every machine and is not needed here, so that no folder has to be created and removed.
    root = pathlib.Path("/sys")
    run("mount", "-t", "tmpfs", "none", root)
    for name in ["usr", "bin", "sbin", "lib", "lib32", "lib64", "opt"]:
        host = pathlib.Path("/") / name
        if host.is_symlink():
            (root / name).symlink_to(os.readlink(host))
        elif host.exists():
            bind(host, root / name)
    for host, name in [("/dev", "dev"), ("/proc", "proc"), (repository, "repository"), (andon.parent, "andon")]:
        bind(pathlib.Path(host), root / name)
    copy_readable(pathlib.Path("/etc"), root / "etc")
    (root / "etc/hosts").unlink(missing_ok=True)
    (root / "etc/hosts").write_text(HOSTS)
    (root / "etc/resolv.conf").unlink(missing_ok=True)
    (root / "etc/resolv.conf").write_text("nameserver 127.0.0.1\n")
    os.chroot(root)
    os.chdir("/")
    os.environ.clear()
    os.environ.update(
        HOME=str(HOME), PATH=f"/andon:{WORK}:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", LC_ALL="C.UTF-8",
        USER="you", TMPDIR="/tmp")


def empty():
    """Restores the initial state."""
    for name in CHANGED:
        folder = pathlib.Path(name)
        if folder.is_symlink():
            folder.unlink()
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True, exist_ok=True)
    for name in ["/run/andon", "/run/php", "/var/log/nginx", "/var/lib/nginx", "/var/cache/andon", "/var/cache/nginx"]:
        pathlib.Path(name).mkdir(parents=True)
    WORK.mkdir()
    # Every transfer by curl reports its status, wherever its output goes.
    (HOME / ".curlrc").write_text('write-out = "%{stderr}HTTP %{http_code} %{content_type}\\n"\n')


def bind(host, inside):
    if host.is_dir():
        inside.mkdir(parents=True)
    else:
        inside.touch()
    run("mount", "--rbind", host, inside)


def copy_readable(source, target):
    """Copies the files of /etc that others than their owner may read."""
    target.mkdir()
    for entry in os.scandir(source):
        inside = target / entry.name
        try:
            if entry.is_symlink():
                inside.symlink_to(os.readlink(entry.path))
            elif entry.is_dir():
                copy_readable(pathlib.Path(entry.path), inside)
            elif entry.is_file():
                shutil.copyfile(entry.path, inside)
        except PermissionError:
            pass


def run(*command):
    subprocess.run(list(map(str, command)), check=True)
