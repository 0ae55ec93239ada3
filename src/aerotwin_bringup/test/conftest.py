# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import os
import sys
from pathlib import Path

import pytest

RECORDER = f"""#!{sys.executable} -ISE
import json, os, sys, time
files = [(sys.argv[i + 1], open(sys.argv[i + 1]).read())
         for i, word in enumerate(sys.argv) if word == "--params-file"]
record = dict(argv=sys.argv, environment=dict(os.environ), folder=os.getcwd(), files=files,
              pid=os.getpid(), parent=os.getppid())
name = f"{{time.time_ns()}}-{{os.getpid()}}.json"
with open(os.path.join(os.environ["RECORDER_FOLDER"], name), "w") as file:
    json.dump(record, file)
"""


@pytest.fixture(scope="session")
def stub_prefix(tmp_path_factory) -> Path:
    """An ament prefix with one package whose executable writes down how it was started."""
    prefix = tmp_path_factory.mktemp("prefix")
    markers = prefix / "share/ament_index/resource_index/packages"
    libexec = prefix / "lib/stub_pkg"
    launch = prefix / "share/stub_pkg/launch"
    for folder in (markers, libexec, launch):
        folder.mkdir(parents=True)
    (markers / "stub_pkg").touch()
    recorder = libexec / "recorder"
    recorder.write_text(RECORDER)
    recorder.chmod(0o755)
    (launch / "shared.launch.yaml").write_text(
        'launch:\n  - node: {pkg: stub_pkg, exec: recorder, name: shared, args: "$(dirname)"}\n'
    )
    return prefix


@pytest.fixture
def launch_environment(stub_prefix, tmp_path) -> dict[str, str]:
    """The environment in which launch files are run, the same for ours and for the real one."""
    folders = {"RECORDER_FOLDER": "records", "ROS_LOG_DIR": "log", "TMPDIR": "tmp"}
    for folder in folders.values():
        (tmp_path / folder).mkdir()
    libexec = stub_prefix / "lib/stub_pkg"
    own = {name: str(tmp_path / folder) for name, folder in folders.items()}
    return own | {
        "PATH": f"{libexec}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "AMENT_PREFIX_PATH": str(stub_prefix),
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "GOLDEN_BASE": "base",
        "GOLDEN_EMPTY": "",
        "GOLDEN_TRUE": "true",
    }


@pytest.fixture(scope="session")
def launch_words() -> list[str]:
    """`aerotwin launch`, also where the package is not installed and has no entry points."""
    script = (
        "import argparse, sys\n"
        "from aerotwin_bringup import launch_command\n"
        "from aerotwin_core.errors import UserError\n"
        "parser = argparse.ArgumentParser(prog='aerotwin launch')\n"
        "launch_command.configure(parser)\n"
        "try:\n"
        "    sys.exit(launch_command.run(parser.parse_args()))\n"
        "except UserError as error:\n"
        "    print(f'aerotwin launch: {error}', file=sys.stderr)\n"
        "    sys.exit(2)\n"
    )
    return [sys.executable, "-c", script]
