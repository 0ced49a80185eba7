"""URLs of four of the five sites as Python's client libraries make them: the site's name, and the path."""

import random
import sys
from urllib.parse import quote

clients, key, hex_key, hex_salt, files = sys.argv[1:]
sys.path.insert(0, clients)

import pyimgproxy
from imgix import UrlBuilder
from imgproxy import ImgProxy
from libthumbor import CryptoURL
from piffle.image import IIIFImageClient

same = random.Random(7)
NAMES = ["a", "summer sale", "épices", "IMG_0042", "x+y", "2024/05/cover", "a&b", "deep/er/photo-1", "q?uery"]
WIDTHS = [64, 120, 200, 320, 480, 640, 750, 828, 1080]
FILTERS = ["quality(70)", "format(webp)", "grayscale()", "blur(2)", "rotate(90)", "no_upscale()", "strip_icc()", "brightness(10)"]

thumbor = CryptoURL(key=key)
proxies = pyimgproxy.ImgProxy("http://shop.test", key=hex_key, salt=hex_salt)
imgix = UrlBuilder("blog.test", include_library_param=True)
for number in range(60):
    name = f"{same.choice(NAMES)}-{number}.{same.choice(['jpg', 'png', 'webp'])}"
    width, height = same.choice(WIDTHS), same.choice(WIDTHS)
    options = {"width": width, "height": height, "smart": same.random() < 0.5, "fit_in": same.random() < 0.3}
    options["filters"] = same.sample(FILTERS, same.randrange(4))
    if same.random() < 0.2:
        options["crop"] = ((10, 20), (300, 400))
    if same.random() < 0.2:
        options |= {"flip": True, "halign": "left", "valign": "top"}
    print("magazine", "/thumbs" + thumbor.generate(image_url=quote(name), **options))

    source = f"http://{files}/{quote(name)}"
    print("shop", ImgProxy(source, key=hex_key, salt=hex_salt, resizing_type="fill", width=width, height=height))
    image = proxies.image(source).resize(same.choice(["fit", "fill"]), width, height)
    print("shop", image.quality(70).format(same.choice(["webp", "jpg"])).url.removeprefix("http://shop.test"))
    print("shop", image.rotate(90).blur(3).url.removeprefix("http://shop.test"))

    asked = {"w": width, "h": height, "fit": same.choice(["crop", "clip"]), "auto": "format", "dpr": same.choice([1, 2])}
    print("blog", imgix.create_url(name, asked).removeprefix("https://blog.test"))
    for part in imgix.create_srcset(name, {"q": 70}, widths=[100, 200, 300]).split(",\n"):
        print("blog", part.split(" ")[0].removeprefix("https://blog.test"))

    page = IIIFImageClient(api_endpoint=f"/iiif/{2 + number % 2}", image_id=quote(name, safe=""))
    print("library", page.size(width=width))
    print("library", page.size(width=width, height=height, exact=True))
    print("library", page.region(x=0, y=0, width=200, height=100).size(width=width).rotation(degrees=90).format("png"))
