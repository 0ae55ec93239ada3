# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""However a launch ends, its processes end with it, and the exit code says how it went."""

import os
import signal
import subprocess
import time

import pytest

from aerotwin_core.stop_request import ONE_PRESS_S
from aerotwin_launch import expand_launch_file, run_plan


def script(text, **keys):
    return text, keys


def waits(name):
    """Say that it is ready, and wait for a signal for longer than any test."""
    return script(f"touch {name}.ready; exec sleep 600")


def once(name, text, **keys):
    """Do something once another process is ready."""
    return script(f"until [ -e {name}.ready ]; do sleep 0.01; done\n{text}", **keys)


STUBBORN = script(  # ignores everything but SIGKILL, and has a child that does, too
    "trap '' INT TERM; sleep 600 & touch stubborn.ready; sleep 600",
    sigterm_timeout=0.3,
    sigkill_timeout=0.3,
)
SLOW = script(  # ends well half a second after it was asked to
    "trap 'sleep 0.5; touch saved; exit 0' INT\ntouch slow.ready\nwhile true; do sleep 0.05; done"
)
DAEMON = script("setsid sh -c 'touch daemon.ready; exec sleep 600' & touch leader.ready; wait")
END = {"on_exit": "shutdown"}


@pytest.mark.parametrize("to_group", [True, False], ids=["the group", "the leader only"])
def test_ctrl_c_stops_everything_and_gives_130(start_launch, to_group):
    launch = start_launch(waits("a"), waits("b"))
    launch.wait_for("a.ready", "b.ready")
    (os.killpg if to_group else os.kill)(launch.process.pid, signal.SIGINT)
    code, out, err = launch.end()
    assert code == 128 + signal.SIGINT
    assert "ERROR" not in out + err
    assert launch.survivors() == []


def test_a_second_ctrl_c_does_not_break_the_shutdown(start_launch):
    launch = start_launch(SLOW)
    launch.wait_for("slow.ready")
    for _ in range(5):
        os.killpg(launch.process.pid, signal.SIGINT)
        time.sleep(0.05)
    code, _, err = launch.end()
    assert code == 128 + signal.SIGINT
    assert "already stopping; still there: " in err
    assert (launch.folder / "saved").exists()
    assert launch.survivors() == []


WRITES = script(  # a report that takes for ever; a second SIGINT gives it up
    "trap \"touch writing; trap 'touch given.up; exit 0' INT\" INT; trap '' TERM\n"
    "touch writes.ready; while true; do sleep 0.05; done",
    sigterm_timeout=0.1,
    sigkill_timeout=3600.0,
)


def test_what_is_left_much_time_ends_at_the_second_ctrl_c(start_launch):
    launch = start_launch(WRITES, waits("b"))
    launch.wait_for("writes.ready", "b.ready")
    launch.process.send_signal(signal.SIGINT)
    launch.wait_for("writing")
    launch.process.terminate()  # gives up nothing
    time.sleep(1.5 * ONE_PRESS_S)
    assert launch.process.poll() is None and not (launch.folder / "given.up").exists()
    launch.process.send_signal(signal.SIGINT)
    code, _, _ = launch.end()
    assert code == 128 + signal.SIGINT
    assert (launch.folder / "given.up").exists()
    assert launch.survivors() == []


def test_what_does_not_heed_a_second_ctrl_c_is_killed(start_launch):
    stubborn = script(
        "trap 'touch asked' INT; trap '' TERM; touch deaf.ready; while true; do sleep 0.05; done",
        sigterm_timeout=0.1,
        sigkill_timeout=3600.0,
    )
    launch = start_launch(stubborn)
    launch.wait_for("deaf.ready")
    launch.process.send_signal(signal.SIGINT)
    launch.wait_for("asked")
    time.sleep(1.5 * ONE_PRESS_S)
    launch.process.send_signal(signal.SIGINT)
    assert launch.end()[0] == 128 + signal.SIGKILL
    assert launch.survivors() == []


def test_sigterm_stops_everything_and_gives_143(start_launch):
    launch = start_launch(waits("a"))
    launch.wait_for("a.ready")
    launch.process.terminate()
    assert launch.end()[0] == 128 + signal.SIGTERM
    assert launch.survivors() == []


def test_a_stubborn_process_and_its_child_are_killed_and_that_is_a_failure(start_launch):
    launch = start_launch(STUBBORN, waits("b"))
    launch.wait_for("stubborn.ready", "b.ready")
    launch.process.send_signal(signal.SIGINT)
    code, _, err = launch.end()
    assert code == 128 + signal.SIGKILL
    assert "sending SIGTERM" in err
    assert "sending SIGKILL" in err
    assert launch.survivors() == []


def test_a_grandchild_in_a_session_of_its_own_is_ended_too(start_launch):
    launch = start_launch(DAEMON)
    launch.wait_for("daemon.ready", "leader.ready")
    launch.process.send_signal(signal.SIGINT)
    code, _, err = launch.end()
    assert code == 128 + signal.SIGINT
    assert "left behind" in err
    assert launch.survivors() == []


def test_a_grandchild_that_outlives_its_parent_does_not_outlive_the_launch(start_launch):
    launch = start_launch(script("sleep 600 &"))
    assert launch.end()[0] == 0
    assert launch.survivors() == []


def test_a_required_process_that_fails_gives_its_code_and_stops_the_others(start_launch):
    launch = start_launch(SLOW, once("slow", "exit 3", **END))
    code, out, err = launch.end()
    assert code == 3
    assert "is required and has ended" in out
    assert "exit code 3" in err
    assert (launch.folder / "saved").exists()
    assert launch.survivors() == []


def test_a_required_process_that_ends_well_stops_the_others_and_gives_0(start_launch):
    launch = start_launch(waits("other"), once("other", "exit 0", **END))
    assert launch.end()[0] == 0
    assert launch.survivors() == []


def test_a_process_that_fails_on_being_stopped_is_a_failure(start_launch):
    launch = start_launch(
        script("trap 'exit 5' INT; touch a.ready; sleep 600 & wait"), once("a", "exit 0", **END)
    )
    assert launch.end()[0] == 5


def test_any_process_that_fails_makes_the_exit_code_but_stops_nothing(start_launch):
    launch = start_launch(
        script("exit 4"), script("sleep 0.3; touch went_on"), script("kill -SEGV $$")
    )
    assert launch.end()[0] in (4, 128 + signal.SIGSEGV)  # whichever ended first
    assert (launch.folder / "went_on").exists()


def test_the_code_of_a_required_process_goes_before_that_of_another(start_launch):
    launch = start_launch(
        script("touch other.ready; exit 4"), once("other", "sleep 0.2; kill -SEGV $$", **END)
    )
    assert launch.end()[0] == 128 + signal.SIGSEGV


def test_respawn_ends_after_its_retries_and_a_last_failure_counts(start_launch):
    often = {"respawn": '"true"', "respawn_max_retries": 2, "respawn_delay": 0.01}
    launch = start_launch(script("echo run >> runs; exit 6", **often))
    assert launch.end()[0] == 6
    assert (launch.folder / "runs").read_text() == "run\n" * 3


def test_a_respawning_process_is_not_started_again_once_all_is_stopped(start_launch):
    launch = start_launch(
        script("echo run >> run.ready; exit 6", respawn='"true"', respawn_delay=600.0),
        once("run", "sleep 0.2", **END),
    )
    assert launch.end()[0] == 0  # its failures were mended by the respawn
    assert (launch.folder / "run.ready").read_text() == "run\n"


def test_the_guardian_ends_everything_when_the_runner_is_killed(start_launch):
    launch = start_launch(
        DAEMON,
        STUBBORN,
        waits("c"),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    launch.wait_for("daemon.ready", "stubborn.ready", "c.ready")
    launch.process.kill()
    launch.process.wait()
    while launch.survivors():  # the test's own time limit ends a loop without end
        time.sleep(0.05)
    assert list(launch.folder.glob("aerotwin_launch_*")) == []


def test_a_runner_started_with_ignored_sigint_still_hears_ctrl_c(start_launch):
    launch = start_launch(
        waits("a"),
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_IGN),
    )
    launch.wait_for("a.ready")
    launch.process.send_signal(signal.SIGINT)
    code, out, err = launch.end()
    assert code == 128 + signal.SIGINT
    assert "sending SIGTERM" not in out + err  # the child's SIGINT is the default one again


def test_a_reader_that_goes_away_stops_nothing(start_launch):
    launch = start_launch(
        script("for i in 1 2 3; do echo $i; sleep 0.1; done; touch done", output="screen")
    )
    launch.process.stdout.close()
    launch.process.wait()
    assert launch.process.returncode == 0
    assert (launch.folder / "done").exists()


def test_a_program_that_cannot_be_executed_stops_the_launch_with_126(start_launch, tmp_path):
    program = tmp_path / "broken"
    program.write_text("#!/no/such/interpreter\n")
    program.chmod(0o755)
    launch = start_launch(waits("a"), script("", **{"launch-prefix": "./broken"}))
    code, _, err = launch.end()
    assert code == 126
    assert "cannot be started" in err
    assert launch.survivors() == []


def test_a_caller_has_its_handlers_of_signals_again(tmp_path, launch_environment):
    file = tmp_path / "t.launch.yaml"
    file.write_text("launch:\n  - executable: {cmd: 'true', name: quick}\n")
    heard = []
    before = signal.signal(signal.SIGTERM, lambda *_: heard.append(True))
    try:
        assert run_plan(expand_launch_file(file, {}, launch_environment), tmp_path) == 0
        os.kill(os.getpid(), signal.SIGTERM)
    finally:
        signal.signal(signal.SIGTERM, before)
    assert heard == [True]


def test_what_the_caller_has_started_before_is_not_ended(tmp_path, launch_environment):
    file = tmp_path / "t.launch.yaml"
    file.write_text("launch:\n  - executable: {cmd: 'true', name: quick}\n")
    with subprocess.Popen(["sleep", "600"]) as other:
        assert run_plan(expand_launch_file(file, {}, launch_environment), tmp_path) == 0
        assert other.poll() is None
        other.kill()
