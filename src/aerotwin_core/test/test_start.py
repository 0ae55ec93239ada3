# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import os
import signal
import subprocess
import sys

SLOW = """
print("loading", flush=True)
import time
time.sleep(30.0)
"""


def _start(tmp_path, text):
    (tmp_path / "a_node.py").write_text(text)
    command = [
        sys.executable,
        "-c",
        "from aerotwin_core import start; raise SystemExit(start.program.a_node.main())",
    ]
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")]).strip(os.pathsep)
    return subprocess.Popen(
        command,
        env={**os.environ, "PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_ctrl_c_while_a_program_loads_ends_it_in_silence(tmp_path):
    with _start(tmp_path, SLOW) as process:
        assert process.stdout.readline() == "loading\n"
        process.send_signal(signal.SIGINT)
        assert process.wait(20.0) == 130
        assert process.stderr.read() == ""


def test_the_program_runs_and_its_exit_code_is_that_of_the_process(tmp_path):
    with _start(tmp_path, "def main():\n    print('ran')\n    return 3\n") as process:
        assert process.communicate(timeout=20.0)[0] == "ran\n"
        assert process.returncode == 3
