# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Every command and snippet of the documents is run here, or at least checked against the code.

A block runs unless a comment before it says `<!-- slow: why -->` (it runs in the slow test) or
`<!-- checked: why -->` (its verbs, options, launch arguments, nodes, parameters, make targets and
imports must exist). A block that begins with `# name.yaml` or `# name.py` is that file for what
follows on its page.
"""

import argparse
import ast
import dataclasses
import importlib
import itertools
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import entry_points
from pathlib import Path

import pytest
import yaml
from _pytest.outcomes import Failed

from aerotwin_core import cli
from aerotwin_core.parameters import flat_parameters

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [
    ROOT / "CONTRIBUTING.md",
    *sorted(path for path in DOCS.rglob("*.md") if "generated" not in path.relative_to(DOCS).parts),
]
NAMES = [str(path.relative_to(ROOT)) for path in PAGES]
FENCE = re.compile(
    r"(?:^<!-- (?P<mode>slow|checked): (?P<why>[^\n]+) -->\n)?"
    r"^```(?P<language>[^\n]*)\n(?P<text>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)
LANGUAGES = {"bash", "python", "yaml", "text"}
DIRECTIVES = ("{toctree}", "{include}")
FILE_NAME = re.compile(r"# ([\w.-]+\.(?:yaml|py))\n")
LINK = re.compile(r"(?<!!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")
MOST_PICTURES = 10
RUN_S = 280.0
VERBS = {tuple(entry.name.split(".")): entry for entry in entry_points(group=cli.GROUP)}
# Programs of others, of which only the files that they name are checked.
FOREIGN = {"git", "pip", "python", "python3", "rosdep"}


@dataclasses.dataclass(frozen=True)
class Block:
    """A fenced block of a page."""

    page: Path
    line: int
    language: str
    text: str
    mode: str

    @property
    def where(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.line}"

    @property
    def file_name(self) -> str | None:
        name = FILE_NAME.match(self.text)
        return name[1] if name else None


def blocks(page: Path) -> list[Block]:
    text = page.read_text("utf-8")
    return [
        Block(
            page=page,
            line=text.count("\n", 0, match.start("language")) + 1,
            language=match["language"].strip(),
            text=match["text"],
            mode=match["mode"] or "run",
        )
        for match in FENCE.finditer(text)
    ]


def commands(text: str) -> Iterator[list[str]]:
    """Yield the commands of a shell block as lists of words, without settings before them."""
    for line in text.replace("\\\n", " ").splitlines():
        if re.fullmatch(r"\w+=\$\(echo [^)]*\)", line):
            continue
        words = shlex.split(line, comments=True)
        while words and re.match(r"\w+=", words[0]):
            words.pop(0)
        if words:
            yield words


def check_command(words: list[str]) -> None:
    """Raise AssertionError where a command names what does not exist."""
    program, rest = words[0], words[1:]
    if program in (".", "cd"):
        known = ("/opt/ros/", "install/", ".venv", "build/")
        assert rest[0].startswith(known) or (ROOT / rest[0]).exists(), f"no file {rest[0]}"
    elif program == "aerotwin":
        check_verb(rest)
    elif program == "make":
        check_make(rest)
    elif program == "ros2":
        check_ros2(rest)
    else:
        assert program in FOREIGN or program.startswith(".ci/"), f"unknown program {program}"
        if "-r" in rest:
            listed = rest[rest.index("-r") + 1]
            assert (ROOT / listed).is_file(), f"no file {listed}"
    for word in rest:
        value = word.partition(":=")[2] or word
        if value.startswith(("config/", "launch/", "src/", ".ci/")):
            assert (ROOT / value).exists(), f"no file {value}"


def check_verb(words: list[str]) -> None:
    if words in (["--help"], ["--version"]):
        return
    path = next((p for n in (2, 1) if (p := tuple(words[:n])) in VERBS), None)
    assert path is not None, f"no command aerotwin {' '.join(words)}"
    rest = words[len(path) :]
    if path == ("launch",):
        check_launch(rest)
        return
    module = importlib.import_module(VERBS[path].value)
    parser = cli.parser_of(module, f"aerotwin {' '.join(path)}")
    parser.exit_on_error = False
    if "--help" not in rest:
        try:
            parser.parse_args(rest)
        except (argparse.ArgumentError, SystemExit) as error:
            pytest.fail(f"aerotwin {' '.join(words)}: refused ({error})")


def check_launch(words: list[str]) -> None:
    """Let the runner work out what it would start, which refuses what does not exist."""
    # Parameter files of the reader's own are read even so; the snippets that run have them.
    words = [word for word in words if not word.partition(":=")[0].endswith("_parameters")]
    show = [] if "--show-args" in words else ["--print-commands"]
    code = cli.main(["launch", *words, *show])
    assert code == 0, f"aerotwin launch {' '.join(words)}: refused, see above"


def check_make(words: list[str]) -> None:
    if "-C" in words:
        return
    makefile = (ROOT / "Makefile").read_text("utf-8")
    for word in words:
        name, is_setting, _ = word.partition("=")
        pattern = rf"^{name} \?=" if is_setting else rf"^{name}:"
        assert re.search(pattern, makefile, re.MULTILINE), f"make knows no {name}"


def check_ros2(words: list[str]) -> None:
    kind, package, *rest = words
    if not package.startswith("aerotwin_"):
        return
    if kind == "launch":
        check_launch([package, *rest])
        return
    assert kind == "run", f"ros2 {kind} is not checked"
    program, *arguments = rest
    (script,) = entry_points(group="console_scripts", name=program)
    function = script.value.partition(":program.")[2]
    names = parameters_of_node(function.rpartition(".")[0])
    for option, value in itertools.pairwise(arguments):
        if option == "-p":
            assert value.partition(":=")[0] in names, f"{program} has no parameter {value}"


def parameters_of_node(module: str) -> set[str]:
    """Return the names of the parameters that the node of a module declares."""
    tree = ast.parse(Path(str(importlib.import_module(module).__file__)).read_text("utf-8"))
    classes = {
        ast.unparse(call.args[1])
        for call in ast.walk(tree)
        if isinstance(call, ast.Call) and ast.unparse(call.func) == "declare_parameters"
    }
    loaded = importlib.import_module(module)
    return {name for cls in classes for name, *_ in flat_parameters(getattr(loaded, cls))}


def check_imports(text: str) -> None:
    """Compile a snippet, and import what it imports."""
    tree = ast.parse(text)
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            exec(compile(ast.Module([node], []), "snippet", "exec"), {})


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """An empty folder in which the paths of a checkout lead to it."""
    for name in ("launch", "config", "worlds"):
        (tmp_path / name).symlink_to(ROOT / name)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_blocks(page: Path, modes: set[str]) -> None:
    """Run the blocks of a page in order in the working folder."""
    namespace: dict[str, object] = {"__name__": "snippet"}
    for block in blocks(page):
        if block.file_name is not None:
            Path(block.file_name).write_text(block.text, "utf-8")
        if block.mode not in modes:
            continue
        if block.language == "python":
            exec(compile(block.text, block.where, "exec"), namespace)
        elif block.language == "bash":
            run_shell(block)


def run_shell(block: Block) -> None:
    path = f"{ROOT / '.venv/bin'}:{os.environ['PATH']}"
    child = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", block.text],
        capture_output=True,
        text=True,
        timeout=RUN_S,
        env={**os.environ, "PATH": path, "PYTHONPATH": os.environ.get("PYTHONPATH", "")},
    )
    assert child.returncode == 0, f"{block.where}\n{child.stdout}{child.stderr}"


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_every_block_says_what_it_is(page):
    text = page.read_text("utf-8")
    assert text.count("\n```") == 2 * len(blocks(page)), "a fence is not closed, or is indented"
    for block in blocks(page):
        is_known = block.language in LANGUAGES or block.language.startswith(DIRECTIVES)
        assert is_known, f"{block.where}: {block.language!r}"
    assert text.count("<!-- ") == sum(block.mode != "run" for block in blocks(page))


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_what_a_page_names_exists(page, monkeypatch):
    monkeypatch.chdir(ROOT)
    for block in blocks(page):
        try:
            if block.language == "bash":
                for words in commands(block.text):
                    check_command(words)
            elif block.language == "python":
                check_imports(block.text)
            elif block.language == "yaml":
                assert isinstance(yaml.safe_load(block.text), dict)
        except (AssertionError, ImportError, SyntaxError, yaml.YAMLError, Failed) as error:
            pytest.fail(f"{block.where}: {error}")


def pages_with(mode: str) -> list[object]:
    return [
        pytest.param(page, id=name)
        for page, name in zip(PAGES, NAMES, strict=True)
        if any(b.mode == mode and b.language in ("bash", "python") for b in blocks(page))
    ]


@pytest.mark.parametrize("page", pages_with("run"))
def test_the_snippets_of_a_page_run(page, folder):
    run_blocks(page, {"run"})


@pytest.mark.slow
@pytest.mark.ros
@pytest.mark.parametrize("page", pages_with("slow"))
def test_the_slow_snippets_of_a_page_run(page, folder):
    run_blocks(page, {"run", "slow"})


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("aerotwin evaluate trajektory a b", "no command"),
        ("aerotwin evaluate map cliff a.ply --aling icp", "refused"),
        ("aerotwin evaluate map cliff a.ply --align nothing", "refused"),
        ("aerotwin launch launch/no.launch.yaml", "refused"),
        ("aerotwin launch launch/sitl_flight.launch.yaml sped:=1.0", "refused"),
        ("aerotwin launch launch/sitl_flight.launch.yaml record:=some", "refused"),
        ("aerotwin launch launch/sitl_flight.launch.yaml mission:=config/no.yaml", "no file"),
        ("ros2 launch aerotwin_bringup sitl_flight.launch.yaml sped:=1", "refused"),
        ("ros2 run aerotwin_stereo_odometry stereo_odometry --ros-args -p treads:=2", "treads"),
        ("make tests", "make knows no"),
        ("make bench NAME=flight", "make knows no"),
        ("gazebo", "unknown program"),
        ("pip install -r requirements-no.txt", "no file"),
    ],
)
def test_a_command_that_does_not_exist_is_found(command, message, monkeypatch):
    monkeypatch.chdir(ROOT)
    with pytest.raises((AssertionError, Failed), match=message):
        for words in commands(command):
            check_command(words)


def test_a_snippet_that_fails_is_found(folder):
    page = folder / "page.md"
    page.write_text("```bash\naerotwin world info no_such_world\n```\n", "utf-8")
    (block,) = blocks(page)
    with pytest.raises(AssertionError, match="no_such_world"):
        run_shell(dataclasses.replace(block, page=DOCS / "index.md"))


def slugs(page: Path) -> set[str]:
    """Return the anchors of the headings of a Markdown file, as GitHub and MyST make them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def documents() -> list[Path]:
    """Return all Markdown files of the project."""
    folders = (".", "worlds", "examples", "test/evidence", "src/*")
    return [*PAGES, *(path for one in folders for path in sorted(ROOT.glob(f"{one}/README.md")))]


@pytest.mark.parametrize("page", documents(), ids=lambda path: str(path.relative_to(ROOT)))
def test_links_between_documents_lead_somewhere(page):
    for plain, picture in LINK.findall(page.read_text("utf-8")):
        target, _, anchor = (plain or picture).partition("#")
        if "://" in target:
            continue
        path = (page.parent / target).resolve() if target else page
        assert path.exists(), f"{page.relative_to(ROOT)}: {target} is not there"
        if anchor:
            assert anchor in slugs(path), f"{page.relative_to(ROOT)}: no heading #{anchor}"


def test_pictures_of_the_documents_are_small():
    pictures = sorted((DOCS / "pictures").iterdir())
    assert len(pictures) <= MOST_PICTURES
    assert all(picture.stat().st_size < 150_000 for picture in pictures)


@pytest.mark.slow
def test_the_generated_reference_names_what_there_is():
    """Its pages are made of the code; this is that they are not empty."""
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from pathlib import Path\n"
        "from verb_page import verb_page\n"
        "from reference_tables import launch_page, topics_page, metrics_page\n"
        "from parameter_pages import parameter_pages\n"
        "root = Path(sys.argv[2])\n"
        "print(verb_page(), launch_page(root / 'launch'), topics_page(root / 'src'))\n"
        "print(metrics_page(root / 'src'), *parameter_pages(root / 'src').values())\n"
    )
    child = subprocess.run(
        [sys.executable, "-P", "-c", code, str(DOCS / "extensions"), str(ROOT)],
        capture_output=True,
        text=True,
        timeout=RUN_S,
    )
    assert child.returncode == 0, child.stderr
    expected = [f"## aerotwin {' '.join(path)}\n" for path in VERBS]
    expected += [f"## {path.name}\n" for path in (ROOT / "launch").glob("*.yaml")]
    expected += [
        "| `imu/data_raw` | `sensor_msgs/msg/Imu` | `imu_link` | reliable | 250 |",
        "| `slam/odom` |",
    ]
    expected += [
        "## ImuParameters\n",
        "| `surface.unaligned.rmse_m` |",
        "ROS parameters of `StereoOdometryNode`",
    ]
    for text in expected:
        assert text in child.stdout, text
