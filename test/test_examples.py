# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Every example runs, most without ROS, and leaves its picture; their table tells the truth."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

EXAMPLES = Path(__file__).resolve().parents[1] / "examples"
FILES = sorted([*EXAMPLES.glob("*.py"), *EXAMPLES.glob("*.ipynb")])
SLOW = {"fly_and_read_bag.py", "fly_by_services.py", "localise_image.py", "teach_and_repeat.py"}
FLYING = {"fly_and_read_bag.py", "fly_by_services.py"}
WITH_ROS = {"fly_by_services.py"}
LIMIT_S = 600.0  # of a loaded machine that compiles the kernels first; no test waits for it to pass
LEAST_WIDTH_PX, LEAST_SPREAD = 600, 10.0
"""A picture of one colour has a spread (standard deviation of its grey values) of 0."""
LONGEST_LINES = 100
ROW = re.compile(r"\| \[`(\S+)`\]\((\S+)\) \| .+ \| (no|yes) \| \d+ \| `(\S+)` \|")
# As on a machine without ROS: importing one of these fails.
RUN = """
import runpy, sys
sys.modules.update(dict.fromkeys(("rclpy", "rclpy.node", "launch", "std_msgs", "sensor_msgs")))
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""


def cells(notebook: Path, kind: str) -> list[dict]:
    return [c for c in json.loads(notebook.read_text("utf-8"))["cells"] if c["cell_type"] == kind]


def as_script(file: Path, folder: Path) -> Path:
    """Return a script; of a notebook, its code cells one after the other."""
    if file.suffix == ".py":
        return file
    script = folder / f"{file.stem}_cells.py"
    script.write_text("\n".join("".join(cell["source"]) for cell in cells(file, "code")), "utf-8")
    return script


def marks_of(name: str) -> list[pytest.MarkDecorator]:
    slow = [pytest.mark.slow] if name in SLOW else []
    flying = [pytest.mark.flying] if name in FLYING else []
    return slow + flying


@pytest.mark.parametrize(
    "file",
    [pytest.param(f, id=f.name, marks=marks_of(f.name)) for f in FILES],
)
def test_it_runs_and_leaves_its_picture(file, tmp_path):
    run = [] if file.name in WITH_ROS else ["-W", "error", "-c", RUN]
    command = [sys.executable, *run, as_script(file, tmp_path)]
    if file.suffix == ".py":
        command += ["-o", tmp_path / "out"]
    environment = {**os.environ, "MPLBACKEND": "Agg", "EXAMPLES_OUTPUT": str(tmp_path / "out")}
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=LIMIT_S
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip(), "an example says its numbers"
    with Image.open(tmp_path / "out" / f"{file.stem}.png") as picture:
        grey = np.asarray(picture.convert("L"), float)
    assert grey.shape[1] >= LEAST_WIDTH_PX and grey.std() > LEAST_SPREAD


@pytest.mark.parametrize("notebook", EXAMPLES.glob("*.ipynb"), ids=lambda path: path.name)
def test_notebooks_are_stored_without_outputs(notebook):
    for cell in cells(notebook, "code"):
        assert cell["outputs"] == [] and cell["execution_count"] is None
    assert len(cells(notebook, "markdown")) > 2, "a notebook explains"


def test_the_table_names_every_example_and_its_picture():
    rows = [ROW.fullmatch(line) for line in (EXAMPLES / "README.md").read_text().splitlines()]
    names = [row[1] for row in rows if row]
    assert sorted(names) == [file.name for file in FILES]
    for row in filter(None, rows):
        assert (row[3] == "yes") == (row[1] in WITH_ROS)
        assert row[2] == row[1] and row[4] == f"{Path(row[1]).stem}.png"


def test_examples_are_short():
    for file in EXAMPLES.glob("*.py"):
        assert len(file.read_text("utf-8").splitlines()) <= LONGEST_LINES, file.name
