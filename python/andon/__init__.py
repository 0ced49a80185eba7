"""Resize, crop, compose and convert images: the engine of the Andon image server.

>>> import andon
>>> small = andon.render("fit:250x250,as:webp,q:80", photo)

A recipe is what the server's URLs come to and what ``andon convert`` takes; docs/reference.md lists every word. All
functions release the interpreter's lock while they work, so threads run at the same time.
"""

from andon._andon import __version__
from andon._api import plan, probe, render, render_batch, to_numpy
from andon._types import FORMATS, RASTERS, AndonError, Info, Limits, Plan

__all__ = [
    "FORMATS",
    "RASTERS",
    "AndonError",
    "Info",
    "Limits",
    "Plan",
    "__version__",
    "plan",
    "probe",
    "render",
    "render_batch",
    "to_numpy",
]
