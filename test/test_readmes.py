# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The READMEs: short, and what they import and call is there."""

import ast
import importlib
import re
from importlib.metadata import entry_points
from pathlib import Path

import pytest

from aerotwin_core.cli import GROUP

ROOT = Path(__file__).resolve().parents[1]
README = ROOT / "README.md"
PACKAGES = sorted((ROOT / "src").glob("*/README.md"))
EVIDENCE = ROOT / "test" / "evidence" / "README.md"
READMES = [README, EVIDENCE, ROOT / "worlds" / "README.md", *PACKAGES]
WRITTEN = [*(ROOT / "docs").glob("*.md"), *(ROOT / "docs").glob("[!re]*/*.md"),
           *(ROOT / "docs" / "reference").glob("*.md")]  # fmt: skip
"""Pages of the documentation that are not generated."""
ONE_SCREEN, ROOT_LINES = 80, 200
MOST_WORDS = 51_500
"""40,000 before data sets, SLAMs of others and standard interfaces, 45,000 before ArduPilot, 47,000
before fleets that meet."""
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def name_of(path):
    """Return a path as pytest shows it."""
    return str(path.parent.relative_to(ROOT)) if isinstance(path, Path) else None


@pytest.mark.parametrize("path", PACKAGES, ids=name_of)
def test_the_readme_of_a_package_is_one_screen(path):
    assert len(path.read_text("utf-8").splitlines()) <= ONE_SCREEN


def test_the_first_page_and_all_documents_are_short():
    assert len(README.read_text("utf-8").splitlines()) <= ROOT_LINES
    pages = {*READMES, *ROOT.glob("examples/README.md"), *WRITTEN}
    words = {str(page.relative_to(ROOT)): len(page.read_text("utf-8").split()) for page in pages}
    assert sum(words.values()) <= MOST_WORDS, sorted(words.items(), key=lambda item: -item[1])[:10]


@pytest.mark.parametrize("path", READMES, ids=name_of)
def test_snippets_parse_and_import_names_that_are_there(path):
    for language, text in BLOCK.findall(path.read_text("utf-8")):
        if language != "python":
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("aerotwin_"):
                module = importlib.import_module(node.module)
                missing = [one.name for one in node.names if not hasattr(module, one.name)]
                assert missing == [], node.module


@pytest.mark.parametrize("path", READMES, ids=name_of)
def test_commands_name_verbs_and_launch_files_that_are_there(path):
    verbs = {verb.name for verb in entry_points(group=GROUP)}
    text = path.read_text("utf-8")
    for words in re.findall(r"^(?:\.venv/bin/)?aerotwin ((?:[a-z]+ ?)+)", text, re.MULTILINE):
        first, second, *_ = [*words.split(), "", ""]
        assert first in verbs or f"{first}.{second}" in verbs, words
    for name in re.findall(r"\b((?:launch|config)/[\w/.]+\.yaml)", text):
        assert (ROOT / name).is_file(), name


@pytest.mark.parametrize("package", ["ground_dynamics", "sensor_models", "worlds"])
def test_snippets_that_need_no_data_run(package):
    path = ROOT / "src" / f"aerotwin_{package}" / "README.md"
    names: dict[str, object] = {}
    for language, text in BLOCK.findall(path.read_text("utf-8")):
        if language == "python":
            exec(compile(text, str(path), "exec"), names)
    assert names
