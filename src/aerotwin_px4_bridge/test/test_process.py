# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Processes that end well, badly, or not at all; oracle: the kernel (/proc)."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_px4_bridge.process import (
    AutopilotProcess,
    embedded_process,
    px4_process,
    rotor_parameters,
)

HOME = GeodeticPoint(latitude_deg=47.397742, longitude_deg=8.545594, altitude_m=488.0)
PATIENCE_S = 120.0  # of a loaded machine; no test waits for it to pass


def _python(code: str, tmp_path: Path, **keywords) -> AutopilotProcess:
    return AutopilotProcess(
        [sys.executable, "-c", code], log_path=tmp_path / "log" / "autopilot.log", **keywords
    )


def _wait_for(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < deadline, "what the test waits for did not happen"
        time.sleep(0.01)


def _log(process: AutopilotProcess) -> str:
    return process.log_path.read_text()


def _is_alive(pid: int) -> bool:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[0] != "Z"


def test_a_process_runs_in_its_own_group_with_its_log_and_environment(tmp_path):
    code = "import os, time; print(os.environ['MODEL'], os.getcwd(), flush=True); time.sleep(60)"
    process = _python(code, tmp_path, cwd=tmp_path / "run", environment={"MODEL": "iris"})
    with process:
        _wait_for(lambda: "iris" in _log(process))
        assert os.getpgid(process.pid) == process.pid
        assert _log(process).split() == ["iris", str(tmp_path / "run")]
        assert process.is_running
    assert not process.is_running


def test_a_pinned_process_may_use_one_core_only(tmp_path):
    core = min(os.sched_getaffinity(0))
    code = "import os; print(sorted(os.sched_getaffinity(0)), flush=True)"
    with _python(code, tmp_path, cpu=core) as process:
        _wait_for(lambda: not process.is_running)
        assert _log(process).strip() == f"[{core}]"


def test_stop_is_quick_for_one_that_listens(tmp_path):
    with _python("import time; print('up', flush=True); time.sleep(60)", tmp_path) as process:
        _wait_for(lambda: "up" in _log(process))
    assert "killed by SIGINT" in process.describe_end() or "code" in process.describe_end()


def test_one_that_ignores_every_polite_signal_is_killed_with_its_children(tmp_path):
    code = (
        "import signal, subprocess, sys, time\n"
        "signal.signal(signal.SIGINT, signal.SIG_IGN)\n"
        "signal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        "print(child.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    process = _python(code, tmp_path)
    process.start()
    _wait_for(lambda: _log(process).endswith("\n"))
    child = int(_log(process))
    process.stop()
    assert "killed by SIGKILL" in process.describe_end()
    _wait_for(lambda: not _is_alive(child))


def test_it_dies_when_its_parent_is_killed(tmp_path):
    parent_code = (
        "import sys, time\n"
        "from pathlib import Path\n"
        "from aerotwin_px4_bridge.process import AutopilotProcess\n"
        "process = AutopilotProcess([sys.executable, '-c', 'import time; time.sleep(60)'],\n"
        "                           log_path=Path(sys.argv[1]) / 'log')\n"
        "process.start()\n"
        "print(process.pid, flush=True)\n"
        "time.sleep(60)\n"
    )
    command = [sys.executable, "-c", parent_code, str(tmp_path)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        child = int(parent.stdout.readline())
        _wait_for(lambda: "sleep" in Path(f"/proc/{child}/cmdline").read_text())
        parent.kill()
    _wait_for(lambda: not _is_alive(child))


def test_an_early_end_is_reported_with_the_last_lines_of_the_log(tmp_path):
    process = _python("print('no airframe'); raise SystemExit(3)", tmp_path, name="PX4 0")
    process.start()
    _wait_for(lambda: not process.is_running)
    with pytest.raises(UserError, match=r"PX4 0 exited with code 3.*no airframe"):
        process.check()


def test_a_crash_is_named_by_its_signal(tmp_path):
    process = _python("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)", tmp_path)
    process.start()
    _wait_for(lambda: not process.is_running)
    assert "killed by SIGSEGV" in process.describe_end()
    assert signal.SIGSEGV == 11


def test_a_missing_program_is_reported_before_anything_starts(tmp_path):
    process = AutopilotProcess(["no_such_autopilot"], log_path=tmp_path / "log")
    with pytest.raises(UserError, match="no_such_autopilot not found"):
        process.start()
    assert process.describe_end() == "autopilot was never started"


def test_stopping_twice_or_before_the_start_does_nothing(tmp_path):
    process = _python("pass", tmp_path)
    process.stop()
    process.start()
    process.stop()
    process.stop()
    assert not process.is_running


def test_the_embedded_autopilot_gets_instance_and_parameters(tmp_path):
    process = embedded_process(2, tmp_path, parameters_path=Path("a.yaml"), command=["autopilot"])
    assert process.command == ["autopilot", "--instance", "2", "--parameters", "a.yaml"]
    assert process.log_path == tmp_path / "autopilot_2.log"


def _fake_px4(folder: Path) -> Path:
    build = folder / "build" / "px4_sitl_default"
    (build / "bin").mkdir(parents=True)
    (build / "etc" / "init.d-posix").mkdir(parents=True)
    (build / "etc" / "init.d-posix" / "rcS").write_text("#!/bin/sh\n")
    px4 = build / "bin" / "px4"
    px4.write_text(
        '#!/bin/sh\necho "$@"; pwd; env | grep PX4_; cat "$(command -v px4-rc.params)"\n'
    )
    px4.chmod(0o755)
    return folder


def test_px4_gets_instance_home_model_and_parameters(tmp_path):
    px4_dir = _fake_px4(tmp_path / "PX4-Autopilot")
    process = px4_process(
        px4_dir,
        3,
        tmp_path,
        home=HOME,
        speed_factor=5.0,
        gnss_delay_s=0.12,
        parameters={"MIS_TAKEOFF_ALT": 4.5},
    )
    (tmp_path / "px4_3" / "px4-rc.params").chmod(0o755)  # found by `command -v` of the fake
    process.start()
    _wait_for(lambda: not process.is_running)
    said = _log(process).splitlines()
    assert said[0] == f"-i 3 -d {px4_dir}/build/px4_sitl_default/etc"
    assert said[1] == str(tmp_path / "px4_3")
    assert {
        "PX4_HOME_LAT=47.397742000",
        "PX4_HOME_LON=8.545594000",
        "PX4_HOME_ALT=488.000",
        "PX4_SIM_MODEL=none_iris",
        "PX4_SIM_SPEED_FACTOR=5",
        "PX4_UXRCE_DDS_NS=px4_3",
    } <= set(said)
    assert {"param set EKF2_GPS_DELAY 120", "param set MIS_TAKEOFF_ALT 4.5"} <= set(said)


@pytest.mark.parametrize(
    ("requested", "reported"), [(0.0, "30"), (0.5, "1"), (1.0, "1"), (8.0, "8")]
)
def test_px4_gets_the_real_time_factor(tmp_path, requested, reported):
    px4_dir = _fake_px4(tmp_path / "PX4-Autopilot")
    process = px4_process(px4_dir, 0, tmp_path, home=HOME, speed_factor=requested)
    assert process.environment["PX4_SIM_SPEED_FACTOR"] == reported


def test_rotors_are_sent_to_px4_in_front_right_down():
    """The front right rotor of PX4's iris, CCW: PX +, PY +, KM +."""
    values = rotor_parameters([((0.13, -0.22, 0.02), 1), ((0.13, 0.22, 0.02), -1)], 0.06)
    assert values == {
        "CA_ROTOR_COUNT": 2,
        "PWM_MAIN_FUNC1": 101,
        "PWM_MAIN_FUNC2": 102,
        "CA_ROTOR0_PX": 0.13,
        "CA_ROTOR0_PY": 0.22,
        "CA_ROTOR0_KM": 0.06,
        "CA_ROTOR1_PX": 0.13,
        "CA_ROTOR1_PY": -0.22,
        "CA_ROTOR1_KM": -0.06,
    }


def test_more_rotors_than_px4_allocates_are_refused():
    rotors = [((0.1, 0.1, 0.0), 1)] * 13
    with pytest.raises(UserError, match="at most 12 rotors, found 13"):
        rotor_parameters(rotors, 0.06)


def test_a_folder_without_px4_is_reported_with_what_was_looked_for(tmp_path):
    with pytest.raises(
        UserError, match=r"px4_dir: looked for .*bin/px4.*found nothing.*make px4_sitl_default"
    ):
        px4_process(tmp_path / "nothing", 0, tmp_path, home=HOME)


def test_vehicles_have_names_in_the_dds_world(tmp_path):
    px4_dir = _fake_px4(tmp_path / "PX4-Autopilot")
    process = px4_process(px4_dir, 2, tmp_path, home=HOME, namespace="uav2")
    assert process.environment["PX4_UXRCE_DDS_NS"] == "uav2"


def test_links_are_opened_in_real_time_only_unless_requested(tmp_path):
    px4_dir = _fake_px4(tmp_path / "PX4-Autopilot")
    script = tmp_path / "px4_0" / "px4-rc.mavlink"
    for speed, links, n_started in [(1.0, None, 4), (0.0, None, 1), (8.0, ["ground"], 2)]:
        px4_process(px4_dir, 0, tmp_path, home=HOME, speed_factor=speed, links=links)
        assert script.read_text().count("mavlink start") == n_started


def test_a_parameter_name_cannot_carry_a_command(tmp_path):
    with pytest.raises(UserError, match="PX4 parameter"):
        px4_process(
            _fake_px4(tmp_path / "p"), 0, tmp_path, home=HOME, parameters={"A; rm -rf": 1.0}
        )
