"""URLs as the clients of other servers make them: the size that is expected, and the path."""

import sys

clients, key, hex_key, hex_salt, source, files = sys.argv[1:]
sys.path.insert(0, clients)

import pyimgproxy
from imgix import UrlBuilder
from imgproxy import ImgProxy
from libthumbor import CryptoURL
from piffle.image import IIIFImageClient

thumbor = CryptoURL(key=key)
for size, options in [
    ("300x200", {"width": 300, "height": 200}),
    ("150x112", {"width": 150}),
    ("267x200", {"width": 300, "height": 200, "fit_in": True}),
    ("80x80", {"width": 80, "height": 80, "smart": True, "filters": ["quality(70)"]}),
]:
    print(size, "/thumbor" + thumbor.generate(image_url="trip/a.jpg", **options))

proxy = ImgProxy(source, key=hex_key, salt=hex_salt, resizing_type="fill", width=70, height=50)
print("70x50", f"/imgproxy{proxy}")

for address, keys in [("/imgproxy", {"key": hex_key, "salt": hex_salt}), ("/unsigned", {})]:
    image = pyimgproxy.ImgProxy(f"http://andon.test{address}", **keys).image(source)
    for size, made in [
        ("90x60", image.resize("fill", 90, 60)),
        ("100x75", image.size(100).quality(70).format("webp")),
        # The width is that of the turned image.
        ("200x267", image.size(200).rotate(90)),
    ]:
        print(size, made.url.replace("http://andon.test", ""))

imgix = UrlBuilder("andon.test", sign_key=key, include_library_param=False)
print("120x90", imgix.create_url("/trip/a.jpg", {"w": 120}).replace("https://andon.test", "/imgix"))
print("80x80", imgix.create_url("/trip/a.jpg", {"w": 80, "h": 80, "fit": "crop"}).replace("https://andon.test", "/imgix"))
for part in imgix.create_srcset("/trip/a.jpg", {}, widths=[50, 100]).split(",\n"):
    url, width = part.split(" ")
    print({"50w": "50x38", "100w": "100x75"}[width], url.replace("https://andon.test", "/imgix"))

iiif = IIIFImageClient(api_endpoint="/iiif/3", image_id="trip%2Fa.jpg")
print("100x75", iiif.size(width=100))
print("80x60", iiif.size(width=80, height=60, exact=True))
print("50x100", iiif.region(x=0, y=0, width=200, height=100).size(width=100).rotation(degrees=90).format("png"))
