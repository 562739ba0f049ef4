"""What is said about the package in several places is the same, and nothing of it is about one machine."""

import re
import tomllib
from pathlib import Path

import pytest

from woodwind import __version__

ROOT = Path(__file__).parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
RECIPE = (ROOT / "packaging" / "conda" / "meta.yaml").read_text(encoding="utf-8")
CITATION = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
CONSTRAINTS = (ROOT / "packaging" / "constraints.txt").read_text(encoding="utf-8").splitlines()
WRITTEN = [
    "pyproject.toml", "Makefile", "CITATION.cff", "SECURITY.md", "docker/Dockerfile",
    "packaging/conda/meta.yaml", "packaging/constraints.txt",
]  # fmt: skip


def test_all_places_name_the_same_version():
    assert f"version: {__version__}\n" in CITATION
    assert f'{{% set version = "{__version__}" %}}' in RECIPE


def test_the_recipe_needs_what_the_package_needs():
    run = RECIPE.split("  run:\n")[1].split("\n\n")[0]
    needed = re.findall(r"- ([\w-]+) (>=[\d.]+)", run)
    wanted = [re.fullmatch(r"([\w-]+)(>=[\d.]+)", one).groups() for one in PROJECT["dependencies"]]
    assert needed == [("python", PROJECT["requires-python"]), *wanted]


def test_extras_are_listed_and_all_has_every_one_of_them_for_users():
    extras = PROJECT["optional-dependencies"]
    (everything,) = extras["all"]
    named = set(re.fullmatch(r"woodwind\[(.*)\]", everything).group(1).split(","))
    assert named == set(extras) - {"all", "docs", "dev", "bench"}


def test_classifiers_name_the_pythons_from_the_oldest_on():
    versions = [tuple(map(int, found.split("."))) for one in PROJECT["classifiers"] for found in re.findall(r"Python :: (3\.\d+)$", one)]
    assert ">=" + ".".join(map(str, versions[0])) == PROJECT["requires-python"]
    assert versions == [(3, minor) for minor in range(versions[0][1], versions[0][1] + len(versions))]
    assert PROJECT["license"] == "Apache-2.0"
    assert (ROOT / "woodwind" / "py.typed").exists()


def test_constraints_are_plain_versions_of_what_is_needed():
    pins = [line for line in CONSTRAINTS if not line.startswith("#")]
    assert [line for line in pins if not re.fullmatch(r"[\w.-]+==[\w.!+]+", line)] == []
    names = {re.split("==", line)[0].lower().replace("_", "-") for line in pins}
    needed = {re.match(r"[\w-]+", one).group().lower() for one in [*PROJECT["dependencies"], *PROJECT["optional-dependencies"]["dev"]]}
    assert needed - names - {"woodwind"} == set()


@pytest.mark.parametrize("name", WRITTEN)
def test_nothing_is_of_one_machine(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert re.findall(r"/home/|/root/|/work/|/Users/|file://", text) == []


def test_the_image_is_of_an_ordinary_user_with_a_health_check():
    text = (ROOT / "docker" / "Dockerfile").read_text(encoding="utf-8")
    assert text.index("USER woodwind") < text.index("ENTRYPOINT")
    assert "HEALTHCHECK" in text
    copied = re.findall(r"^COPY (?!--from)(.+?) \./", text, re.MULTILINE)
    assert {part for one in copied for part in one.split()} == {"pyproject.toml", "README.md", "LICENSE", "woodwind"}
