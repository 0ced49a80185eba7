"""URLs as the clients of thumbor and imgproxy make them: the size that is expected, and the path."""

import sys

clients, key, hex_key, hex_salt, source = sys.argv[1:]
sys.path.insert(0, clients)

from imgproxy import ImgProxy
from libthumbor import CryptoURL

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
