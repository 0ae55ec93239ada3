# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A recorded flight, and scripts that are run on it as SLAMs."""

import pytest
import yaml

from aerotwin_core.cli import main
from support.dataset_samples import write_recording
from support.slam_scripts import DESCRIPTION, FRAME_NS


@pytest.fixture
def bag(tmp_path):
    return write_recording(tmp_path / "flight" / "bag", frame_ns=FRAME_NS)


@pytest.fixture
def evaluate(tmp_path, bag, capsys):
    """Return a function that runs a script as a SLAM: exit code, report folder, errors.

    What it printed on standard output is its attribute `printed`, the folder `folder`.
    """

    def run(script, *tokens, bag=bag, **changes):
        (tmp_path / "slam.py").write_text(script)
        described = tmp_path / "slam.yaml"
        described.write_text(yaml.safe_dump(DESCRIPTION | changes))
        folder = run.folder = tmp_path / "report"
        code = main(
            ["evaluate", "bag", str(bag), "--slam", str(described), "-o", str(folder),
             f"script:={tmp_path / 'slam.py'}", *tokens]
        )  # fmt: skip
        run.printed, errors = capsys.readouterr()
        return code, folder, errors

    return run
