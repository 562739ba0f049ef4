"""Settings of the site for Sphinx. Its sources are laid out by tools/documentation.py; `make docs` runs both."""

import os
import re
import sys
import warnings
from pathlib import Path

from docutils import nodes
from sphinx import addnodes
from sphinx.application import Sphinx

import woodwind

ROOT = Path(__file__).resolve().parent.parent
os.environ.setdefault("WOODWIND_QUIET", "1")

project = "Woodwind"
author = "The Woodwind maintainers"
copyright = "The Woodwind maintainers"  # noqa: A001
version = release = woodwind.__version__

extensions = ["myst_parser", "sphinx_design", "sphinx_gallery.gen_gallery"]
root_doc = "index"
exclude_patterns = ["files/**"]
highlight_language = "text"
smartquotes = False  # quotes stand around values of parameters
add_module_names = False
toc_object_entries_show_parents = "hide"
myst_enable_extensions = ["deflist", "colon_fence", "attrs_inline"]
myst_heading_anchors = 4

html_theme = "pydata_sphinx_theme"
html_title = "Woodwind"
html_static_path = [str(ROOT / "docs" / "_static")]
html_css_files = ["site.css"]
html_search_scorer = str(ROOT / "docs" / "_static" / "search_scorer.js")
html_show_sourcelink = False
html_copy_source = False
html_theme_options = {
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "show_prev_next": False,
    "show_nav_level": 1,
    "navigation_depth": 2,
    "collapse_navigation": True,
    "footer_start": ["copyright"],
    "footer_end": [],
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {"index": [], "quick-start": [], "glossary": [], "changelog": [], "readme": []}

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "plot_gallery": True,
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "abort_on_example_error": True,
    "min_reported_time": 10_000,
    "within_subsection_order": "FileNameSortKey",
    "image_scrapers": ("matplotlib",),
    "capture_repr": (),
    "write_computation_times": False,
}

# Names in backticks that lead to the reference, wherever a page has them.
PUBLIC = {name: f"woodwind.{name}" for name in woodwind.__all__} | {
    name: f"woodwind.{module}.{name}" for module in ("plots", "distributions") for name in getattr(woodwind, module).__all__
}


def link_names(app: Sphinx, doctree: nodes.document) -> None:
    """Turn public names in backticks into links to the reference; not in titles, and not where there is a link already."""
    here = app.env.docname.rpartition("/")[2].rpartition(".")[2]
    for literal in list(doctree.findall(nodes.literal)):
        name = re.fullmatch(r"(?:woodwind\.)?(?:(?:plots|distributions)\.)?(\w+)(?:\(\))?", literal.astext())
        inside = literal.parent
        while inside is not None and not isinstance(
            inside, nodes.reference | nodes.title | addnodes.pending_xref | addnodes.desc_signature
        ):
            inside = inside.parent
        if (
            name
            and name[1] in PUBLIC
            and inside is None
            and name[1] not in (here, "distributions", "diversity", "losses", "plots", "fit", "load")
        ):
            link = addnodes.pending_xref("", refdomain="py", reftype="obj", reftarget=PUBLIC[name[1]], refexplicit=True, refwarn=False)
            literal.replace_self(link)
            link += literal


def setup(app: Sphinx) -> None:
    """Names become links once a page has been read."""
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    app.connect("doctree-read", link_names)
    sys.path.insert(0, str(ROOT))
