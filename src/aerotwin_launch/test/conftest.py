# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from support.launch_prefix import make_prefix, prefix_of

__all__ = ["prefix_of"]

PATIENCE_S = 120.0  # of a loaded machine; no test waits for it to pass
# Children run elsewhere and must still find what the tests import.
IMPORT_PATH = os.pathsep.join(os.path.abspath(folder) for folder in sys.path)


@pytest.fixture(scope="session")
def stub_prefix(tmp_path_factory) -> Path:
    """An ament prefix with one package whose executable writes down how it was started."""
    prefix = make_prefix(tmp_path_factory.mktemp("prefix"), [("stub_pkg", "recorder")])
    launch = prefix / "share/stub_pkg/launch"
    launch.mkdir(parents=True)
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
        "PYTHONPATH": IMPORT_PATH,
        "GOLDEN_BASE": "base",
        "GOLDEN_EMPTY": "",
        "GOLDEN_TRUE": "true",
    }


@pytest.fixture(scope="session")
def launch_words() -> list[str]:
    """`aerotwin launch`, also where the package is not installed and has no entry points."""
    script = (
        "import argparse, importlib.util, sys, types\n"
        # Without the package's own imports (SciPy among them), which cost a second each time.
        "core = types.ModuleType('aerotwin_core')\n"
        "core.__path__ = importlib.util.find_spec('aerotwin_core').submodule_search_locations\n"
        "sys.modules['aerotwin_core'] = core\n"
        "from aerotwin_launch import launch_command\n"
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


class RunningLaunch:
    """`aerotwin launch` of shell scripts (each with the keys of its action), and what is left."""

    def __init__(self, tokens, folder, actions, **options):
        self.mark = uuid.uuid4().hex
        self.folder = folder
        path = folder / "test.launch.yaml"
        lines = ["launch:"]
        for number, (script, keys) in enumerate(actions):
            (folder / f"script{number}.sh").write_text(script)
            keys = "".join(f", {key}: {value}" for key, value in keys.items())
            lines.append(f'  - executable: {{cmd: "sh script{number}.sh"{keys}}}')
        path.write_text("\n".join(lines) + "\n")
        environment = os.environ | {
            "AEROTWIN_TEST_MARK": self.mark,
            "PYTHONPATH": IMPORT_PATH,
            "ROS_LOG_DIR": str(folder / "log"),
            "TMPDIR": str(folder),
        }
        options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE} | options
        self.process = subprocess.Popen(
            [*tokens, str(path)],
            env=environment,
            cwd=folder,
            text=True,
            start_new_session=True,
            **options,
        )

    def wait_for(self, *names):
        """Wait until the processes of the test have made these files."""
        until = time.monotonic() + PATIENCE_S
        while not all((self.folder / name).exists() for name in names):
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < until
            time.sleep(0.01)

    def end(self):
        """Wait for the end; return exit code and output."""
        out, err = self.process.communicate(timeout=PATIENCE_S)
        assert "Traceback" not in err
        return self.process.returncode, out, err

    def survivors(self):
        """Return the processes that still carry the mark of this launch."""
        found = []
        for entry in Path("/proc").iterdir():
            try:
                if self.mark.encode() in (entry / "environ").read_bytes():
                    found.append((entry / "cmdline").read_text())
            except OSError:
                continue
        return found


@pytest.fixture
def start_launch(launch_words, tmp_path):
    """Start a launch of the given scripts; what a failing test leaves is killed."""
    launches = []

    def start(*actions, **options):
        launches.append(RunningLaunch(launch_words, tmp_path, actions, **options))
        return launches[-1]

    yield start
    for launch in launches:
        launch.process.kill()
        for stream in (launch.process.stdout, launch.process.stderr):
            if stream is not None:
                stream.close()
        launch.process.wait()
