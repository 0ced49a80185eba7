"""faces-seeds.py FOLDER: seeds for the target `faces`: the face of samples/faces in gray, whole and at the edges."""

import pathlib
import sys

from PIL import Image

root = pathlib.Path(__file__).parent.parent.parent
face = Image.open(root / "samples/faces/astronaut.jpg").convert("L").crop((165, 55, 285, 175))
for side in (44, 60, 90):
    scaled = face.resize((side, side), Image.BOX)
    for name, (x, y) in {"whole": (8, 8), "left": (-side // 3, 8), "right": (side // 3 + 16, side // 3 + 16)}.items():
        image = Image.new("L", (side + 16, side + 16), 128)
        image.paste(scaled, (x, y))
        seed = bytes(image.size) + image.tobytes()
        (pathlib.Path(sys.argv[1]) / f"{name}-{side}").write_bytes(seed)
