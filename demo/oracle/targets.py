"""The requests that are made for every source."""
from dataclasses import dataclass

FORMATS = ["jpeg", "png", "webp", "avif", "jxl", "gif", "bmp", "ico", "tiff"]
MOVING = ["gif", "apng", "webp", "avif", "jxl"]
WORDS = ["", "fit:50x50,", "stored,", "stored,fit:50x50,metadata:none,", "stored,metadata:all,"]
SMALL_LIGHT = ["dw=50,dh=50", "of=auto", "of=jpeg", "dw=50,dh=50,of=png", "of=webp", "dw=50,dh=50,of=gif",
               "of=png,rmprof=y", "of=jpeg,autoorient=y"]
DIALECTS = {
    "image_filter": "/nginx/image_filter(resize,50,50)/{}",
    "weserv": "/weserv/?url={}&w=50&h=50&output=png",
    "imgix": "/imgix/{}?w=50&h=50&fit=max&fm=webp",
    "cloudflare": "/cdn-cgi/image/width=50,height=50,format=auto/{}",
    "imgproxy": "/imgproxy/_/rs:fit:50:50/f:avif/plain/local:///{}",
    "thumbor": "/thumbor/unsafe/fit-in/50x50/{}",
    "imagor": "/imagor/unsafe/fit-in/50x50/filters:format(jpeg)/{}",
    "iiif": "/iiif/3/{}/full/!50,50/0/default.png",
}
MOVING_DIALECTS = ["/weserv/?url={}&w=50&h=50&n=-1&output=webp", "/cdn-cgi/image/width=50,height=50,format=avif,anim=true/{}",
                   "/imgix/{}?w=50&h=50&fit=max&fm=gif", "/small_light(dw=50,dh=50)/{}"]
# Formats that the modules with these URLs cannot read.
UNREAD = {"/nginx": ("avif", "jxl", "tif")}
CONFIGURATION = """
[[origin]]
fs.root = {folder}
[limits]
broken = "show"
[log]
level = "warn"
[iiif]
prefix = "/iiif/3"
[image_filter]
prefix = "/nginx"
[weserv]
prefix = "/weserv"
[imgix]
prefix = "/imgix"
[cloudflare]
prefix = "/cdn-cgi/image"
[imgproxy]
prefix = "/imgproxy"
[thumbor]
prefix = "/thumbor"
[imagor]
prefix = "/imagor"
allow_unsafe = true
"""


@dataclass
class Target:
    url: str
    source: object
    kind: str = "still"
    # The index of the source's frame that the result shows.
    frame: int = 0


def targets(source):
    asked = globals()[f"of_{source.kind}"](source)
    return [Target(url.replace("{}", source.name), source, *rest) for url, *rest in asked]


def of_still(source):
    for form in FORMATS:
        for words in WORDS if source.turn else WORDS[:2]:
            yield [f"/r/{words}as:{form}/{{}}"]
    for words in WORDS:
        yield [f"/r/{words}as:auto/{{}}"]
    yield ["/r/fit:50x50/{}"]
    yield from ([f"/small_light({words})/{{}}"] for words in SMALL_LIGHT)
    if source.turn:
        yield from ([url] for url in DIALECTS.values() if not source.name.endswith(UNREAD.get(url[:6], ())))


def of_moving(source):
    for words in WORDS[:2]:
        for form in MOVING:
            yield [f"/r/{words}as:{form}/{{}}", "moving"]
        yield [f"/r/{words}as:auto/{{}}", "moving"]
    yield from ([url, "moving"] for url in MOVING_DIALECTS)
    yield from ([f"/r/frame:{number},as:{form}/{{}}", "still", number - 1] for number in (1, 2) for form in FORMATS)


def of_case(source):
    """Yields requests for a file of any size, without those that depend on the size of the generated sources."""
    for form in FORMATS:
        yield [f"/r/fit:60x60,as:{form}/{{}}"]
    for form in ("jpeg", "png", "webp", "avif"):
        yield [f"/r/as:{form}/{{}}"]
    yield from ([url] for url in ("/r/fit:60x60/{}", "/r/stored,fit:60x60,as:webp/{}", "/r/as:auto/{}", "/small_light(dw=60,dh=60)/{}",
                                  "/small_light(of=webp)/{}", "/weserv/?url={}&w=60&h=60&we&output=png"))


def of_colours(source):
    """Yields requests at a quality that makes differences in colour visible, not artefacts."""
    for words in ("q:97,chroma:444,as:jpeg", "as:png", "lossless,as:webp", "q:97,chroma:444,as:avif", "lossless,as:jxl",
                  "profile:srgb,as:png"):
        yield [f"/r/{words}/{{}}"]
