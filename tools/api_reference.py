"""The pages of the API reference, written from the declarations of the package: `pages()` gives each as Markdown for Sphinx.

Parameters of estimators come from `woodwind.params` (type, bounds, default and words, in the groups in which they are declared), everything
else from signatures and docstrings. Nothing of this is stored: `tools/documentation.py` asks for it whenever the site is built.
"""

import importlib
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from typing import Any

import click

import woodwind
from woodwind.base import errors
from woodwind.cli.main import COMMANDS
from woodwind.losses.named import CLASSIFICATION, REGRESSION
from woodwind.metrics.named import METRICS
from woodwind.params.describe import Knob, declared

# Sub-packages of `woodwind.estimators`, in the order in which the reference lists them; those that are not here come after them.
FAMILIES = {
    "boosting": "Gradient boosting",
    "forests": "Trees and forests",
    "adaptive": "AdaBoost and additive models",
    "bagging": "Bagging",
    "pools": "Voting",
    "stacking": "Stacking",
    "selection": "Ensemble selection",
    "dynamic": "Dynamic selection",
    "mixture": "Mixtures of experts",
    "averaging": "Bayesian averaging",
    "conformal": "Conformal prediction",
    "preprocessing": "Preprocessing",
    "auto": "The main job",
    "imported": "Models of other libraries",
    "diagnostics": "Diagnostics",
}
MODULES = {"distributions": "Distributions", "diversity": "Diversity", "losses": "Losses", "plots": "Plots"}
OTHER = "Tables, files and exchange"
MOST_SHOWN = 6
MANY_PARAMETERS = 15
SECTION = re.compile(r"^(Parameters|Returns|Yields|Attributes|Examples|Notes|Raises|See Also|References)\n-{3,}\n", re.MULTILINE)
Sections = dict[str, str]


def pages() -> dict[str, str]:
    """Every page of the reference by its name in the folder `reference`, without the ending."""
    found: dict[str, str] = {}
    groups: dict[str, list[tuple[str, str]]] = {}
    for name in woodwind.__all__:
        thing = getattr(woodwind, name)
        if not inspect.ismodule(thing) and name != "__version__" and not is_error(thing):
            found[f"woodwind.{name}"] = page_of(name, thing, "woodwind")
            groups.setdefault(family_of(name), []).append((f"woodwind.{name}", summary(thing)))
    order = [*FAMILIES.values(), *sorted(set(groups) - set(FAMILIES.values()) - {OTHER}), OTHER]
    index = [(slug(title), title, sorted(groups[title])) for title in order if title in groups]
    for module, title in MODULES.items():
        index.append((module, title, list(module_pages(module, found))))
    for name, title, names in index:
        found[name] = group_page(title, names, name)
    found["errors"] = errors_page()
    found["metrics"] = metrics_page()
    found["command-line"] = command_line_page()
    found["README"] = index_page(index)
    return found


def family_of(name: str) -> str:
    """The heading under which a public name stands."""
    parts = woodwind.PUBLIC_HOMES[name].split(".")
    return FAMILIES.get(parts[2], parts[2].capitalize()) if parts[1] == "estimators" and parts[2] != "persistence" else OTHER


def slug(title: str) -> str:
    """A title as the name of a file."""
    return re.sub(r"\W+", "-", title.lower()).strip("-")


def is_error(thing: Any) -> bool:
    """Whether this is an exception or a warning."""
    return inspect.isclass(thing) and issubclass(thing, Exception)


def module_pages(module: str, found: dict[str, str]) -> Iterator[tuple[str, str]]:
    """A page for each class of a public module, and for the functions that are defined in one file of it."""
    home = importlib.import_module(f"woodwind.{module}")
    together: dict[str, list[str]] = {}
    for name in home.__all__:
        thing = getattr(home, name)
        if inspect.isclass(thing) and module != "diversity":
            found[f"woodwind.{module}.{name}"] = page_of(name, thing, f"woodwind.{module}")
            yield f"woodwind.{module}.{name}", summary(thing)
        elif callable(thing):
            together.setdefault(thing.__module__, []).append(name)
    for file, names in together.items():
        words = first_sentence(importlib.import_module(file).__doc__ or "")
        parts = [f"# {file}", words, *(described(getattr(home, name), name, f"woodwind.{module}", "##") for name in sorted(names))]
        found[file] = "\n\n".join(parts) + "\n"
        yield file, words + " " + ", ".join(f"`{name}`" for name in sorted(names))


# Pages.


def index_page(index: list[tuple[str, str, list[tuple[str, str]]]]) -> str:
    """The first page of the reference."""
    lines = [
        "# API reference\n",
        (
            "Every public name, from its declaration: parameters with what they may be and their defaults, attributes, methods, examples. "
            "The examples are run by the tests. Estimators follow the conventions of scikit-learn.\n"
        ),
    ]
    for name, title, names in index:
        lines += [f"## [{title}]({name}.md)\n", ", ".join(f"[{one.rpartition('.')[2]}]({one}.md)" for one, _ in names) + "\n"]
    more = {"metrics": "Metrics", "command-line": "Command line", "errors": "Errors and warnings"}
    lines += [f"## [{title}]({name}.md)\n" for name, title in more.items()]
    return "\n".join([*lines, toctree([*(name for name, _, _ in index), *more])])


def group_page(title: str, names: list[tuple[str, str]], module: str) -> str:
    """A family: what is in it, in a sentence each."""
    about = f"Public names of `woodwind.{module}`." if module in MODULES else ""
    rows = [f"| [{name.removeprefix('woodwind.')}]({name}.md) | {words} |" for name, words in names]
    return "\n".join([f"# {title}\n", about + "\n", "| name | |\n| --- | --- |", *rows, "", toctree([name for name, _ in names])])


def toctree(names: list[str]) -> str:
    """The pages below a page, for the navigation only."""
    return "\n".join(["```{toctree}", ":hidden:", "", *(f"{short(name)} <{name}>" for name in names), "```", ""])


def short(name: str) -> str:
    """A name as the navigation has it; a title is taken from the page where this gives none."""
    return (
        name.rpartition(".")[2]
        if "." in name
        else {"errors": "Errors and warnings", "command-line": "Command line"}.get(name, title_of(name))
    )


def title_of(name: str) -> str:
    """The title of a group by the name of its page."""
    return next(
        (title for title in (*FAMILIES.values(), *MODULES.values(), OTHER) if name in (slug(title), title.lower())), name.capitalize()
    )


def page_of(name: str, thing: Any, module: str) -> str:
    """The page of one public name."""
    return f"# {name}\n\n{described(thing, name, module, '##')}\n"


def errors_page() -> str:
    """All errors and warnings on one page: each is a sentence."""
    kinds = [kind for kind in vars(errors).values() if is_error(kind) and kind.__module__ == errors.__name__]
    parts = ["# Errors and warnings\n", "Messages name the owner, the parameter or column, what was allowed, what came, and what to do."]
    for kind in kinds:
        module = "woodwind" if kind.__name__ in woodwind.__all__ else errors.__name__
        above = ", ".join(f"`{base.__name__}`" for base in kind.__bases__)
        parts.append(directive("py:exception", kind.__name__, module, f"{inspect.getdoc(kind)}\n\nIs a {above}."))
    return "\n\n".join(parts) + "\n"


def metrics_page() -> str:
    """Names of metrics, as `scoring` and `--metric` take them, and functions for survival times."""
    parts = [
        "# Metrics\n",
        (
            "Names that `scoring` of estimators, `metric` of the main job and `--metric` of the command line take. "
            "Names of other libraries are understood as well.\n"
        ),
        "| name | what it is | tasks | better is | also |\n| --- | --- | --- | --- | --- |",
    ]
    for name, metric in METRICS.items():
        better = "larger" if metric.larger_is_better else "smaller"
        parts.append(
            f"| `{name}` | {metric.words} | {', '.join(metric.tasks)} | {better} | {', '.join(f'`{one}`' for one in metric.aliases)} |"
        )
    parts += ["\nLosses, which are also metrics of training:\n", "| name | also |\n| --- | --- |"]
    for kind in (*REGRESSION.values(), *CLASSIFICATION.values()):
        parts.append(f"| `{kind.name}` | {', '.join(f'`{one}`' for one in kind.aliases)} |")
    parts.append("\n## Survival times\n")
    home = importlib.import_module("woodwind.metrics.survival")
    parts += [described(getattr(home, name), name, home.__name__, "###") + "\n" for name in home.__all__]
    return "\n".join(parts)


def command_line_page() -> str:
    """Commands and their options."""
    parts = ["# Command line", "`woodwind COMMAND --help` says the same. The guide to the command line leads through it with examples."]
    for name in COMMANDS:
        command = importlib.import_module(COMMANDS[name][0]).run  # not by the group, which keeps pandas out of the process
        usage = click.Context(command, info_name=f"woodwind {name}", parent=None)
        parts += [f"## woodwind {name}", f"```text\n{command.get_usage(usage)}\n```"]
        parts.append(inspect.cleandoc((command.help or "").replace("\b", "")).partition("\n\n")[0])
        options = [option for option in command.params if isinstance(option, click.Option) and not option.hidden]
        records = [(option.opts + option.secondary_opts, option.get_help_record(usage)) for option in options]
        parts += [definition(", ".join(f"`{one}`" for one in names), record[1]) for names, record in records if record]
    return "\n\n".join(parts) + "\n"


# A class or a function.


def described(thing: Any, name: str, module: str, level: str) -> str:
    """A class or a function with all that is known about it; headings below begin at a level."""
    text = sections(inspect.getdoc(thing) or "")
    if not inspect.isclass(thing):
        heading = [] if level == "##" and module == "woodwind" else [f"{level} {name}"]
        return "\n\n".join([*heading, directive("py:function", name + arguments(thing), module, body(text))])
    inner = "###" if module == "woodwind.diversity" else "##"
    parts = [f"{level} {name}"] if module == "woodwind.diversity" else []
    parts += [directive("py:class", name + class_arguments(thing), module, text[""])]
    if "Examples" in text:
        parts += [f"{inner} Example", fenced(text["Examples"])]
    if is_dataclass(thing) and hasattr(thing, "fit"):
        parts += [f"{inner} Parameters", *declared_parameters(thing, inner + "#")]
    elif "Parameters" in text:
        parts += [f"{inner} Parameters", entries(text["Parameters"])]
    if "Attributes" in text:
        parts += [f"{inner} Attributes", entries(text["Attributes"])]
    for title in ("Notes", "References"):
        parts += [f"{inner} {title}", fenced(text[title])] if title in text else []
    parts += methods(thing, name, module, inner)
    return "\n\n".join(parts)


def declared_parameters(cls: type, level: str) -> Iterator[str]:
    """The parameters of an estimator from their declarations; many of them in their groups."""
    knobs = declared(cls)
    homes = {name: base for base in cls.__mro__ if is_dataclass(base) for name in inspect.get_annotations(base)}
    before = None
    for knob in knobs:
        home = homes[knob.name]
        if len(knobs) > MANY_PARAMETERS and home is not before:
            words = first_sentence(inspect.getdoc(home) or "").rstrip(".")
            yield f"{level} {words.partition(';')[0]}" if home.__name__.endswith("Params") else f"{level} Of this estimator"
        before = home
        yield definition(f"`{knob.name}` : {plain(knob.allowed())}{default_of(knob)}", knob.words)


def default_of(knob: Knob) -> str:
    """The default as it follows what is allowed."""
    return "" if knob.default is inspect.Parameter.empty else f", default `{knob.default!r}`"


def methods(cls: type, name: str, module: str, level: str) -> list[str]:
    """The methods of a class; those that scikit-learn brings are only named."""
    own, theirs = [], []
    for one in sorted(dir(cls)):
        found = inspect.getattr_static(cls, one)
        if one.startswith("_") or (one.startswith("set_") and one.endswith("_request")):
            continue
        function = (
            found.fget if isinstance(found, property) else getattr(found, "__func__", getattr(found, "fn", found))
        )  # fn: available_if
        if not inspect.isfunction(function):
            continue
        if not function.__module__.startswith("woodwind"):
            theirs.append(one)
            continue
        kind = "py:property" if isinstance(found, property) else "py:method"
        signature = "" if kind == "py:property" else arguments(function, bound=not isinstance(found, staticmethod))
        options = {classmethod: ":classmethod:", staticmethod: ":staticmethod:"}.get(type(found), "")
        text = sections(inspect.getdoc(getattr(cls, one)) or "")
        own.append(directive(kind, f"{name}.{one}{signature}", module, body(text), options))
    if theirs and hasattr(cls, "get_params"):
        own.append("From scikit-learn: " + ", ".join(f"`{one}`" for one in theirs) + ".")
    return [f"{level} Methods", *own] if own else []


def arguments(function: Callable[..., Any], bound: bool = False) -> str:
    """The arguments of a function with their defaults; types stand in the words below."""
    try:
        parameters = list(inspect.signature(function).parameters.values())[1 if bound else 0 :]
    except ValueError:
        return "(...)"
    return str(inspect.Signature([one.replace(annotation=inspect.Parameter.empty, default=shown(one.default)) for one in parameters]))


def class_arguments(cls: type) -> str:
    """The arguments of a constructor, the first of many."""
    try:
        parameters = [one for one in inspect.signature(cls).parameters.values() if not one.name.startswith("_")]
    except ValueError:
        return ""
    texts = [str(one.replace(annotation=inspect.Parameter.empty, default=shown(one.default), kind=by_name(one))) for one in parameters]
    return f"({', '.join(texts[:MOST_SHOWN])}{', ...' if len(texts) > MOST_SHOWN else ''})"


def by_name(parameter: inspect.Parameter) -> Any:
    """Its kind; a signature of one argument cannot say that it has to be named."""
    return parameter.POSITIONAL_OR_KEYWORD if parameter.kind is parameter.KEYWORD_ONLY else parameter.kind


def shown(default: Any) -> Any:
    """A default that can be written as it is; of others, the name."""
    empty = inspect.Parameter.empty
    return (
        default
        if default is empty or re.fullmatch(r"[\w.'\"(), \[\]{}:+-]*", repr(default))
        else Named(getattr(default, "__name__", "..."))
    )


class Named(str):
    """A name that stands in a signature without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


# Docstrings in Markdown.


def sections(docstring: str) -> Sections:
    """The sections of a docstring in the manner of NumPy; what stands before the first one has no name."""
    parts = SECTION.split(docstring)
    return {"": parts[0].strip()} | {title: text.rstrip() for title, text in zip(parts[1::2], parts[2::2], strict=True)}


def summary(thing: Any) -> str:
    """The first sentence of a docstring, for a table."""
    return first_sentence(inspect.getdoc(thing) or "").replace("|", "\\|")


def first_sentence(docstring: str) -> str:
    """Up to the first full stop that ends a line or a sentence."""
    paragraph = " ".join(docstring.partition("\n\n")[0].split())
    return re.split(r"(?<=\.)\s+(?=[A-Z`])", paragraph)[0]


def body(text: Sections) -> str:
    """A function or a method: words, then its sections one after the other."""
    parts = [fenced(text[""])]
    for title in ("Parameters", "Returns", "Yields", "Raises", "Attributes"):
        parts += [f"**{title}**", entries(text[title])] if title in text else []
    for title, shown_as in (("Notes", "Notes"), ("Examples", "Example")):
        parts += [f"**{shown_as}**", fenced(text[title])] if title in text else []
    return "\n\n".join(parts)


def entries(text: str) -> str:
    """Names with their kinds and words, as a list of definitions."""
    found = []
    for block in re.findall(r"^(\S.*)\n((?:[ ]+.*\n|\n)*)", text.strip("\n") + "\n", re.MULTILINE):
        name, _, kind = block[0].partition(" : ")
        names = (
            ", ".join(f"`{one.strip()}`" for one in name.split(",")) if re.fullmatch(r"[\w*, ]+", name) and (kind or "_" in name) else name
        )
        kind = re.sub(r"[,;] default=(.*)$", r", default `\1`", kind)
        found.append(definition(f"{names} : {plain(kind)}" if kind else names, fenced(textwrap.dedent(block[1]).strip())))
    return "\n\n".join(found)


def plain(text: str) -> str:
    """Text without what would be emphasis."""
    return re.sub(r"(?<!`)\*(?!`)", r"\\*", text)


def definition(term: str, words: str) -> str:
    """One entry of a list of definitions."""
    if not words:
        return term
    first, *rest = words.splitlines()
    return "\n".join([term, f": {first}", *(f"  {line}".rstrip() for line in rest)])


def fenced(text: str) -> str:
    """Text with its examples as blocks of code: in Markdown, `>>>` begins a quotation. Paragraphs that are indented are blocks, too."""
    out = []
    for block in re.split(r"\n{2,}", text):
        indented = not block.startswith(">>>") and bool(block) and all(line.startswith("    ") for line in block.splitlines())
        first = block.startswith(">>>")
        if not first and "\n>>> " in block:
            words, _, code = block.partition("\n>>> ")
            out += [words, f"```python\n>>> {code}\n```"]
        elif first or indented:
            out.append(f"```{'python' if first else 'text'}\n{textwrap.dedent(block)}\n```")
        else:
            out.append(block)
    return "\n\n".join(out)


def directive(kind: str, signature: str, module: str, content: str, options: str = "") -> str:
    """A description of an object for Sphinx."""
    lines = [f"::::{{{kind}}} {signature}", f":module: {module}", *([options] if options else []), "", content, "::::"]
    return "\n".join(lines)
