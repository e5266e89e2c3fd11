# SPDX-License-Identifier: Apache-2.0
"""The documentation agrees with the sources: links, variables, targets, tests, files, examples."""

from __future__ import annotations

import ast
import re
import shlex
import tomllib
import xml.etree.ElementTree as ElementTree
from collections.abc import Iterator
from pathlib import Path

import pytest

from tb.common.paths import ROOT
from tb.dut.selection import SELECTABLE
from tb.dut.user_code import find_test, is_user_test
from tb.run.testlist import load_plan

TOP_PAGES = tuple(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md"))
PAGES = (*TOP_PAGES, *sorted((ROOT / "docs").glob("*.md")))
README = (ROOT / "README.md").read_text()
TESTING = (ROOT / "docs/testing.md").read_text()
README_LINES = 200
DOCS_LINES = 5200
"""Of all pages of docs, without docs/spec."""
MAKEFILE = (ROOT / "Makefile").read_text()

FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)\s]+)\)")
ASSIGNMENT = re.compile(r"^([A-Z_]+)=(.*)$", re.DOTALL)
OURS = re.compile(
    r"`((?:tb|tests|sequences|scoreboards|rtl_stubs|docs|\.ci)/[\w./*-]*|"
    r"(?:requirements[\w-]*|pyproject|README|CONTRIBUTING|CHANGELOG)\.\w+)`"
)
MACHINE = re.compile(r"/(?:work|tmp|home|root|usr/local)/\w")


def fences(page: Path, language: str = "") -> list[str]:
    """Returns the code blocks of a page, of one language or without any."""
    return [text for name, text in FENCE.findall(page.read_text()) if name == language]


def prose(page: Path) -> str:
    """Returns a page without its code blocks."""
    return FENCE.sub("", page.read_text())


def anchors(page: Path) -> set[str]:
    """Returns the anchors that the headings of a page make."""
    found = set()
    for line in prose(page).splitlines():
        if line.startswith("#"):
            kept = re.sub(r"[^\w\- ]", "", line.lstrip("#").strip().lower())
            found.add(kept.replace(" ", "-"))
    return found


def variables() -> set[str]:
    """Returns the variables that the Makefile documents."""
    text = MAKEFILE.replace("\\\n", " ")
    lists = re.findall(r"^(?:MAKE_|PROGRAM_)?VARIABLES := (.*)$", text, re.MULTILINE)
    return set(" ".join(lists).split())


def night_variables() -> set[str]:
    """Returns the variables that only ``make nightly`` has."""
    return set(re.findall(r"^NIGHT_VARIABLES := (.*)$", MAKEFILE, re.MULTILINE)[0].split())


def targets() -> set[str]:
    """Returns the targets that ``make help`` lists."""
    return set(re.findall(r"^([a-z-]+):.*## ", MAKEFILE, re.MULTILINE))


def commands(page: Path) -> Iterator[list[str]]:
    """Yields the words after ``make`` of each such command in a page."""
    for block in fences(page):
        for line in block.splitlines():
            found = re.match(r"^(?:\$ )?(?:time )?make(?: (.*))?$", line)
            if found:
                yield shlex.split(found.group(1) or "", comments=True)
    for inline in re.findall(r"`make( [^`]*)?`", prose(page)):
        yield shlex.split(inline)


def own_tests(page: Path) -> set[str]:
    """Returns the names of plan entries that a page itself gives as examples."""
    entries = [tomllib.loads(text) for text in fences(page, "toml")]
    return {test["name"] for entry in entries for test in entry.get("test", [])}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_resolve(page: Path) -> None:
    for target in LINK.findall(prose(page)):
        if target.startswith(("https://", "http://")):
            continue
        name, _, anchor = target.partition("#")
        file = (page.parent / name).resolve() if name else page
        assert file.exists(), f"{page.name} links to {target}, which does not exist"
        assert not anchor or anchor in anchors(file), f"{page.name}: no heading for #{anchor}"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_named_files_exist(page: Path) -> None:
    text = prose(page)
    examples = set(re.findall(r"^`([\w./]+)`:$", text, re.MULTILINE))
    for name in set(OURS.findall(text)) - examples:
        assert list(ROOT.glob(name.rstrip("/"))), f"{page.name} names {name}, which does not exist"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_no_machine_is_named(page: Path) -> None:
    assert not MACHINE.findall(page.read_text())


def test_readme_is_short() -> None:
    assert len(README.splitlines()) <= README_LINES


def test_docs_are_short() -> None:
    lines = {page.name: len(page.read_text().splitlines()) for page in PAGES[len(TOP_PAGES) :]}
    total = sum(lines.values())
    assert total <= DOCS_LINES, f"docs/*.md have {total} lines: {lines}"


def test_testing_page_has_every_variable_with_its_option() -> None:
    rows = dict(re.findall(r"^\| `([A-Z_]+)` \| (?:`(--[\w-]+)` )?\|", TESTING, re.MULTILINE))
    passed_on = re.findall(r"^([A-Z_]+)\.(?:option|flag) +:= (--[\w-]+)$", MAKEFILE, re.MULTILINE)
    options = dict(passed_on)
    assert rows == {name: options.get(name, "") for name in variables()}


def test_nightly_page_has_every_variable_of_a_regression_run_and_no_other() -> None:
    text = (ROOT / "docs/nightly.md").read_text()
    documented = set(re.findall(r"^\| `([A-Z_]+)` \|", text, re.MULTILINE))
    assert documented == night_variables() | {"SEED", "DUT", "PROFILE"}


@pytest.mark.long
def test_nightly_page_quotes_existing_messages() -> None:
    text = (ROOT / "docs/nightly.md").read_text().partition("## Messages")[2].partition("\n## ")[0]
    cells = [line.split("|")[1] for line in text.splitlines() if line.startswith("| `")]
    quoted = [message for cell in cells for message in re.findall(r"`([^`]+)`", cell)]
    assert len(quoted) > 20
    assert [message for message in quoted if not in_sources(message)] == []
    assert not in_sources("the results database is tired")


def in_sources(message: str) -> bool:
    """Returns whether a message is in the sources, up to its ``...`` and numbers."""
    text = "".join(path.read_text() for path in sorted((ROOT / "tb").rglob("*.py")))
    joined = re.sub(r'"\s*\n\s*f?"', "", text)  # a message of several lines
    words = [re.escape(part.strip()) for part in re.split(r"\.\.\.|\bN\b|\b60\b", message)]
    return re.search(r"(?:\s*\{[^{}]*\}\s*)".join(words), joined) is not None


def test_readme_has_every_target_and_no_other() -> None:
    rows = re.findall(r"^\| ((?:`make [a-z-]+`(?:, )?)+) \|", README, re.MULTILINE)
    documented = {name for row in rows for name in re.findall(r"`make ([a-z-]+)`", row)}
    assert documented == targets()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_make_commands_are_possible(page: Path) -> None:
    values = {
        "SIM": {"verilator", "icarus"},
        "TEST": set(load_plan()) | own_tests(page),
        "GM_WIDTH": {"128", "256", "512"},
        "LOCAL_WIDTH": {"128", "256", "512"},
        "WAVES": {"0", "1"},
    }
    for words in commands(page):
        for word in words:
            assigned = ASSIGNMENT.match(word)
            if assigned is None:
                assert word in targets(), f"{page.name}: make {' '.join(words)}"
                continue
            name, value = assigned.groups()
            assert name in variables() | night_variables(), f"{page.name}: make {' '.join(words)}"
            if name == "OPS":
                assert set(value.split(",")) <= set(SELECTABLE), value
            if name == "TEST" and is_user_test(value):
                assert value.startswith("path/to/") or find_test(str(ROOT / value))
                continue
            if name == "PROGRAM" and value.startswith("examples/"):
                assert (ROOT / value).exists(), value
            wrong = name in values and value not in values[name]
            # A page may show the error of a bad value.
            assert not wrong or f"{value!r} is unknown" in page.read_text(), f"{name}={value}"


def test_every_test_of_the_plan_is_documented() -> None:
    documented = dict(re.findall(r"^\| `(\w+)` \| (\d+|fixed) \|", TESTING, re.MULTILINE))
    planned = {
        test.name: "fixed" if test.fixed_length else str(test.transactions)
        for test in load_plan().values()
    }
    assert documented == planned


def test_every_page_is_in_the_readme() -> None:
    linked = set(LINK.findall(README))
    pages = {page.relative_to(ROOT).as_posix() for page in PAGES} - {"README.md"}
    assert pages <= linked


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_examples_are_python(page: Path) -> None:
    for text in fences(page, "python"):
        compile(text, page.name, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def test_picture_is_self_contained() -> None:
    text = (ROOT / "docs/architecture.svg").read_text()
    assert ElementTree.fromstring(text).tag == "{http://www.w3.org/2000/svg}svg"
    assert "href" not in text
    assert "@import" not in text
    assert "prefers-color-scheme: dark" in text


def test_a_broken_page_is_found(tmp_path: Path) -> None:
    page = tmp_path / "bad.md"
    page.write_text("# Bad\n\n[x](nowhere.md) [y](#bad) `make nosuch`\n\n```\n$ make SIM=no\n```\n")
    assert list(commands(page)) == [["SIM=no"], ["nosuch"]]
    assert anchors(page) == {"bad"}
    with pytest.raises(AssertionError, match="nowhere"):
        test_links_resolve(page)
    with pytest.raises(AssertionError):
        test_make_commands_are_possible(page)
