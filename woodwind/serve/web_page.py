"""The page at the root: a form made from the columns of a model, and the reasons of a prediction.

The page is the same for everybody and everything that it shows comes from /schema and /predict by its script, as text: nothing of a request
or of a model is ever written into HTML.
"""

import base64
import hashlib
from functools import cache
from importlib.resources import files


@cache
def page() -> str:
    """The page, which loads nothing but answers of this server."""
    return _source("page.html").replace("/* style */", _source("page.css")).replace("/* script */", _source("page.js"))


@cache
def policy() -> str:
    """The content security policy: this style, this script, and questions to this server."""
    style, script = _digest(_source("page.css")), _digest(_source("page.js"))
    ours = f"style-src '{style}'; script-src '{script}'; connect-src 'self'; img-src data:"
    return f"default-src 'none'; {ours}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"


def _source(name: str) -> str:
    return files("woodwind.serve").joinpath("web", name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
