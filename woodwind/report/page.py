"""The page: facts in, one HTML file out that needs nothing else.

Everything that comes from a table is text to be escaped. Jinja escapes what templates show, and drawings escape themselves; a content
security policy allows no script and no style but the page's own two, by their digests, and nothing from any network.
"""

import base64
import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from woodwind.base.errors import DataError
from woodwind.report import pictures, pictures_inside, pictures_intervals, sections
from woodwind.report.text import cleaned, shown
from woodwind.report.wording import how_split

Facts = dict[str, Any]

VERSIONS = (1,)


@dataclass(frozen=True)
class Section:
    """One section of the page: where it stands, and how facts become what the template of its name shows."""

    id: str
    title: str
    lead: str
    make: Callable[[Facts], Facts | None]


SECTIONS = (
    Section("summary", "Summary", "", sections.summary),
    Section("leaderboard", "Leaderboard", "What was tried, and how good each model is alone.", sections.leaderboard),
    Section(
        "quality",
        "Performance on held-out rows",
        "How good is it? Everything here is about rows that were held out: no model had learned them.",
        pictures.quality,
    ),
    Section(
        "intervals",
        "Prediction intervals",
        "How sure is it? Intervals and sets of labels that hold the truth as often as asked for (conformal prediction).",
        pictures_intervals.intervals,
    ),
    Section(
        "importance",
        "Feature importance",
        "What does it look at? The whole ensemble, not one of its members.",
        pictures_inside.importance,
    ),
    Section(
        "mistakes",
        "Largest errors",
        "The rows that it was most wrong about when they were held out. Errors in the data often come to light here.",
        sections.mistakes,
    ),
    Section("inside", "Ensemble members", "Which members carry it, and why several can be better than one.", pictures_inside.inside),
    Section("data", "Data", "", pictures_inside.data),
    Section("use", "Usage", "", sections.use),
    Section("made", "Training", "", sections.made),
)


def page(facts: Facts, file: str = "model.ww") -> str:
    """The report as one HTML page.

    Parameters
    ----------
    facts : dict
        Facts of a job, as `woodwind.auto.facts.collection.collect` gives them and as a model file keeps them. Parts that are not there are
        left out.
    file : str, default="model.ww"
        What the file of the model is called, for the commands that the page shows.

    Returns
    -------
    str
        A page that needs no network, no other file and no script, for light and dark, wide and narrow screens, and for paper.
    """
    return _rendered([_parts(facts, file)])


def page_of_several(all_facts: Sequence[Facts], file: str = "model.ww") -> str:
    """The reports of several targets on one page, one after another; else as `page`."""
    return _rendered([_parts(facts, file) for facts in all_facts])


def _parts(facts: Facts, file: str) -> Facts:
    """What the page shows of one target."""
    if not isinstance(facts, dict) or facts.get("version") not in VERSIONS:
        raise DataError(
            "The model has no facts that a report can be made of: it was saved without them, or by another version of Woodwind. "
            "Train it with `woodwind fit`, or with the version that made it."
        )
    facts = {**cleaned(facts), "file": shown(file, 200)}
    try:
        made = [_made(section, facts) for section in SECTIONS]
        headline, under = sections.headline(facts)
        split = how_split(facts)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise DataError(f"The facts of the model do not fit together, so no report can be made of them: {error!r}.") from error
    return {
        "target": shown(facts.get("target") or "Model", 60),
        "headline": headline,
        "under": under,
        "split": split,
        "sections": [one for one in made if one["content"]],
        "version": facts.get("made", {}).get("versions", {}).get("woodwind", ""),
    }


def _rendered(parts: Sequence[Facts]) -> str:
    """The page of one target, or of several, whose sections are numbered then."""
    texts = {"style": _source("style.css"), "script": _source("sort.js")}
    for number, part in enumerate(parts if len(parts) > 1 else (), 1):
        for section in part["sections"]:
            section |= {"id": f"{section['id']}-{number}"}
    text: str = (
        _environment()
        .get_template("page.html")
        .render(
            title=f"{', '.join(part['target'] for part in parts)}: Woodwind report",
            parts=parts,
            policy=policy(**texts),
            footer=f"Made by Woodwind {shown(parts[0]['version'], 20)}. This page loads nothing from anywhere.",
            **{name: Markup(text) for name, text in texts.items()},  # ours, and named by digest in the policy
        )
    )
    return text


def _made(section: Section, facts: Facts) -> Facts:
    return {
        "id": section.id,
        "template": f"{section.id}.html",
        "title": section.title,
        "lead": section.lead,
        "content": section.make(facts),
    }


def policy(style: str, script: str) -> str:
    """The content security policy: nothing but this style and this script."""
    ours = f"style-src '{_digest(style)}'; script-src '{_digest(script)}'"
    return f"default-src 'none'; {ours}; img-src data:; base-uri 'none'; form-action 'none'"


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


@cache
def _environment() -> Environment:
    loader = PackageLoader("woodwind.report")
    return Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)


@cache
def _source(name: str) -> str:
    environment = _environment()
    if environment.loader is None:
        raise RuntimeError("templates have no loader")
    text: str = environment.loader.get_source(environment, name)[0]
    return text
