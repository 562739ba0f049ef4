"""Docstrings of what is public: the parameters that they describe are those that there are."""

import inspect
import re

import woodwind

SECTION = re.compile(r"\n(?:Returns|Attributes|Examples|Yields|Notes)\n-+\n")
MODULES = (woodwind, woodwind.distributions, woodwind.diversity, woodwind.losses, woodwind.plots)


def public_callables():
    """Functions, classes and their methods by name."""
    for module in MODULES:
        for name in getattr(module, "__all__", None) or dir(module):
            thing = getattr(module, name)
            if inspect.isclass(thing):
                methods = [(one, inspect.getattr_static(thing, one)) for one in dir(thing) if not one.startswith("_")]
                yield from ((f"{name}.{one}", getattr(method, "__func__", method)) for one, method in methods)
            yield f"{module.__name__}.{name}", thing


def described(docstring):
    """The names of the section on parameters; None where there is none."""
    _, there, section = docstring.partition("Parameters\n----------\n")
    lines = SECTION.split(section)[0].splitlines()
    names = [line.partition(" :")[0].split(",") for line in lines if line and not line.startswith(" ")]
    return [name.strip(" *") for several in names for name in several] if there else None


CALLABLES = {name: one for name, one in public_callables() if inspect.isfunction(one) or inspect.isclass(one)}
DESCRIBED = {name: found for name, one in CALLABLES.items() if (found := described(inspect.getdoc(one) or "")) is not None}


def test_most_of_what_is_public_describes_its_parameters():
    assert len(DESCRIBED) > 400


def test_the_parameters_of_a_docstring_are_those_of_the_signature():
    wrong = {}
    for name, found in DESCRIBED.items():
        there = [one for one in inspect.signature(CALLABLES[name]).parameters if one not in ("self", "cls")]
        if sorted(found) != sorted(there):
            wrong[name] = found
    assert wrong == {}
