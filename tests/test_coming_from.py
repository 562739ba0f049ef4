"""The tables of docs/guide/coming-from-other-libraries.md are those of the package. To make them again: python tests/test_coming_from.py"""

from pathlib import Path

from woodwind.losses.classification import Multinomial
from woodwind.losses.named import CLASSIFICATION, REGRESSION
from woodwind.metrics.named import METRICS, SYNONYMS
from woodwind.params.aliases import AIMS, FIT, TREES, WORK
from woodwind.params.no_counterpart import FIT_NOTHING, LIBRARIES, NOTHING
from woodwind.params.translation import words

PAGE = Path(__file__).parent.parent / "docs" / "guide" / "coming-from-other-libraries.md"
MARK = "<!-- the tables below are generated: see tests/test_coming_from.py -->\n"
SHOWN = 4


def code(names, most=SHOWN):
    return ", ".join(f"`{name}`" for name in names[:most]) + (" ..." if len(names) > most else "")


def names_of(row):
    return " | ".join(code(row.names(library)) for library in LIBRARIES)


def lines():
    head = " | ".join(LIBRARIES.values())
    yield f"## Parameters\n\n| here | {head} | value |\n| --- | --- | --- | --- | --- | --- |"
    for row in (*TREES, *AIMS, *WORK):
        yield f"| {code(row.ours.split()[:1])} | {names_of(row)} | {words(row.rule)} |"
    yield f"\n## Arguments of `fit`\n\n| here | {head} | value |\n| --- | --- | --- | --- | --- | --- |"
    for row in (row for row in FIT if any(row.names(library) for library in LIBRARIES)):
        yield f"| `{row.ours}` | {names_of(row)} | {words(row.rule)} |"
    yield f"\n## Without a counterpart\n\n| {head} | |\n| --- | --- | --- | --- | --- |"
    for row in (*NOTHING, *FIT_NOTHING):
        if any(row.names(library) for library in LIBRARIES):
            yield f"| {names_of(row)} | {row.note} |"
    yield "\n## Names of losses\n\n| here | also understood |\n| --- | --- |"
    for kind in (*REGRESSION.values(), *CLASSIFICATION.values()):
        more = [name for name in Multinomial.aliases if name not in kind.aliases] if kind.name == Multinomial.name else []
        yield f"| `{kind.name}` | {code([*kind.aliases, *more], 99)} |"
    yield "\n## Names of metrics\n\n| here | also understood |\n| --- | --- |"
    for name in METRICS:
        yield f"| `{name}` | {code([other for other, ours in SYNONYMS.items() if ours == name], 99)} |"


def tables():
    return "\n".join(line.replace("|  |", "| |").replace("|  |", "| |") for line in lines()) + "\n"


def test_the_tables_of_the_page_are_those_of_the_package():
    assert PAGE.read_text(encoding="utf-8").partition(MARK)[2].strip() == tables().strip()


if __name__ == "__main__":
    PAGE.write_text(PAGE.read_text(encoding="utf-8").partition(MARK)[0] + MARK + "\n" + tables(), encoding="utf-8")
