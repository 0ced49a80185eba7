"""Fixtures that the pages assume: images, logs, certificates, and other servers."""

import pathlib
import re
import shutil
import subprocess

import room

PHOTO = "photos/otter.jpg"
# Names that pages use for images of their readers.
NAMES = ["a.jpg", "b.jpg", "trip/a.jpg", "trip/b.jpg", "photos/otter.jpg", "otter.jpg", "logo.png", "2026/a.jpg", "2026/11/a.jpg",
         "_astro/a.hash.jpg"]
FOLDER = re.compile(r'^\s*(?:fs\.root|material_dir)\s*=\s*"([^"]+)"', re.M)
FOLDERS = re.compile(r'^\s*(?:folders|read)\s*=\s*\[([^\]]*)\]', re.M)
CACHE = re.compile(r'\bpath\s*=\s*"(/[^"]*)"')
# The key on its own line, or as the only item of a table.
VARIABLE = re.compile(r'_env\s*=\s*(?:\{[^}=]*=\s*)?"(\w+)"')
CERTIFICATE = re.compile(r'^certificate\s*=\s*"([^"]+)"\s*\nkey\s*=\s*"([^"]+)"', re.M)


def images(folder):
    """Creates a folder of images, with all names that pages use."""
    folder = room.WORK / folder
    if folder.exists() and any(folder.iterdir()):
        return
    for name in NAMES:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        sample = "png/alpha.png" if name.endswith(".png") else PHOTO
        shutil.copyfile(room.REPOSITORY / "samples" / sample, file)


def of_every_page():
    """Fills the working directory and ~/photos."""
    work = room.WORK
    images(room.HOME / "photos")
    shutil.copytree(room.HOME / "photos", work / "photos")
    for name in ["photo.jpg", "in.jpg", "photo.png"]:
        shutil.copyfile(room.REPOSITORY / "samples" / PHOTO, work / name)
    (work / "samples").symlink_to(room.REPOSITORY / "samples")
    icons(work / "icons")
    (work / "urls.txt").write_text("/r/fit:250x250/trip/a.jpg\n/r/fit:250x250/trip/b.jpg\n")
    line = '127.0.0.1 - - [28/Nov/2026:12:00:00 +0000] "GET %s HTTP/1.1" 200 1000 "-" "-"\n'
    for log in [work / "access.log", pathlib.Path("/var/log/nginx/access.log")]:
        log.write_text(line % "/trip/a.jpg" + line % "/trip/b.jpg")


def icons(folder):
    folder.mkdir(exist_ok=True)
    for name in ["badge.png", "star.png", "lamp.png"]:
        shutil.copyfile(room.REPOSITORY / "samples/icons/lamp.png", folder / name)


def of_configuration(text, environment):
    """Creates the folders, certificates and secrets that a configuration names."""
    for name in FOLDER.findall(text):
        images(name)
    for names in FOLDERS.findall(text):
        for name in re.findall(r'"([^"]+)"', names):
            path = room.WORK / name
            if not path.exists() and not str(path).startswith("/usr"):
                path.mkdir(parents=True)
    for name in CACHE.findall(text):
        pathlib.Path(name).mkdir(parents=True, exist_ok=True)
    for certificate, key in CERTIFICATE.findall(text):
        pathlib.Path(certificate).parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "1",
                        "-subj", "/CN=localhost", "-out", certificate, "-keyout", key], check=True, capture_output=True)
    for name in VARIABLE.findall(text):
        environment.setdefault(name, "0123456789abcdef0123456789abcdef")


def of_page(page):
    """Creates what one page needs besides the common fixtures."""
    page.others = []
    prepare = PAGES.get(page.name)
    if prepare:
        prepare(page)


def stop(page):
    import page as pages

    for process in page.others:
        pages.end(process)


def migration(page):
    """Starts the servers that a page replaces: Andon itself, at their addresses."""
    work = room.WORK
    (work / "andon.toml").write_text('listen = ["127.0.0.1:8080"]\n[[origin]]\nfs.root = "photos"\n')
    old = work / "old.toml"
    addresses = ["10.0.0.7:80", "127.0.0.1:8888", "127.0.0.1:8182", "127.0.0.1:8000", "127.0.0.1:3000", "127.0.0.1:80"]
    listed = ", ".join(f'"{address}"' for address in addresses)
    old.write_text(f'listen = [{listed}]\n[[origin]]\nfs.root = "photos"\n')
    page.others.append(page.start("exec andon serve --config old.toml", "old.log"))
    folder = pathlib.Path("/etc/nginx")
    folder.mkdir(exist_ok=True)
    (folder / "nginx.conf").write_text(
        "events {}\nhttp {\nserver {\nlisten 127.0.0.1:8080;\nlocation / { root /home/you/work/photos; }\n"
        "location ~ ^/thumb/(.*)$ { image_filter resize 150 -; alias /home/you/work/photos/$1; }\n}\n}\n")


def batch(page):
    """Creates a configuration with a store, and a list of its sources."""
    fixture = 'listen = ["127.0.0.1:8080"]\n[[origin]]\nfs.root = "photos"\n[store]\nfs.root = "results"\nsecret_env = "SECRET"\n'
    (room.WORK / "results").mkdir()
    (room.WORK / "andon.toml").write_text(fixture)
    (room.WORK / "sources.txt").write_text("/trip/a.jpg\n/trip/b.jpg\n")
    page.environment["SECRET"] = "0123456789abcdef0123456789abcdef"


def with_server(page):
    """Starts Andon with the sample images, for pages that begin with a request."""
    (room.WORK / "andon.toml").write_text('listen = ["127.0.0.1:8080"]\n[[origin]]\nfs.root = "photos"\n')


def next_build(page):
    """Creates the files that `next build` writes, and the images of the application."""
    for folder in ["public", ".next/static"]:
        images(folder)
    config = '{"config": {"basePath": "", "images": {"deviceSizes": [640, 1080], "formats": ["image/webp"], "qualities": [75]}}}'
    (room.WORK / ".next/required-server-files.json").write_text(config)


PAGES = {"docs/migration.md": migration, "docs/batch.md": batch, "docs/cache.md": with_server, "docs/guides/next.md": next_build}
