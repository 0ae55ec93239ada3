# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The scenarios as a user starts them: `aerotwin launch`, whole processes, real signals."""

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from aerotwin_core.bag import BagReader
from aerotwin_launch.plan import SIGTERM_TIMEOUT_S
from aerotwin_px4_bridge import offboard_port

pytestmark = [pytest.mark.ros, pytest.mark.slow]

ROOT = Path(__file__).resolve().parent.parent
FLIGHT = ROOT / "launch" / "sitl_flight.launch.yaml"
REPLAY = ROOT / "launch" / "evaluate_bag.launch.yaml"
AEROTWIN = [sys.executable, "-m", "aerotwin_core.cli"]
INSTANCE = 90
LIMIT_S = 240.0
GONE_WITHIN_S = 30.0  # a killed process, however busy the machine


class Launched:
    """A running `aerotwin launch` whose output is kept."""

    def __init__(self, folder: Path, *tokens: str, limit_file_bytes: int | None = None) -> None:
        def limit() -> None:
            if limit_file_bytes is not None:
                import resource

                resource.setrlimit(resource.RLIMIT_FSIZE, (limit_file_bytes,) * 2)

        self.folder = folder
        self.log = folder / "output.txt"
        self._file = self.log.open("w")
        self.process = subprocess.Popen(
            [*AEROTWIN, *tokens],
            cwd=folder,
            stdout=self._file,
            stderr=subprocess.STDOUT,
            preexec_fn=limit,
            start_new_session=True,
        )
        self.descendants: set[psutil.Process] = set()

    @property
    def output(self) -> str:
        return self.log.read_text(errors="replace")

    def wait_for(self, text: str) -> None:
        deadline = time.monotonic() + LIMIT_S
        while text not in self.output:
            assert self.process.poll() is None, self.output
            assert time.monotonic() < deadline, f"no '{text}' in:\n{self.output}"
            self.descendants.update(psutil.Process(self.process.pid).children(recursive=True))
            time.sleep(0.1)
        if self.process.poll() is None:
            self.descendants.update(psutil.Process(self.process.pid).children(recursive=True))

    def finish(self) -> int:
        try:
            return self.process.wait(LIMIT_S)
        finally:
            self._file.close()
            if self.process.poll() is None:
                os.killpg(self.process.pid, signal.SIGKILL)
                self.process.wait()

    @property
    def survivors(self) -> list[str]:
        deadline = time.monotonic() + GONE_WITHIN_S
        while True:
            alive = [p for p in self.descendants if p.is_running()]
            alive = [p for p in alive if p.status() != psutil.STATUS_ZOMBIE]
            if not alive or time.monotonic() > deadline:
                return [" ".join(p.cmdline()) for p in alive]
            time.sleep(0.1)


def flight_words(**changes: object) -> list[str]:
    values = {"instance": INSTANCE, "runs_dir": "runs", **changes}
    return ["launch", str(FLIGHT), *(f"{name}:={value}" for name, value in values.items())]


def run_folder(folder: Path) -> Path:
    (found,) = (folder / "runs").iterdir()
    return found


def metrics(folder: Path) -> dict:
    return json.loads((run_folder(folder) / "metrics.json").read_text())


@pytest.fixture(scope="module")
def flight(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Take-off past the cliff for 14 s with cameras and the shipped SLAM."""
    folder = tmp_path_factory.mktemp("flight")
    launched = Launched(folder, *flight_words(duration_s=14.0, seed=1))
    assert launched.finish() == 0, launched.output
    return folder


def test_a_flight_leaves_a_bag_a_report_metrics_and_its_configuration(flight):
    assert {"bag", "report.html", "metrics.json", "config.yaml", "voxels_1m.ply"} <= {
        path.name for path in run_folder(flight).iterdir()
    }
    bag = BagReader(run_folder(flight) / "bag")
    assert bag.is_complete
    assert bag.counts["/stereo/left/image_raw"] == 280
    assert bag.counts["/slam/odom"] == 280
    for topic in ("/slam/map", "/tf", "/tf_static", "/imu/data_raw", "/gnss/fix", "/clock"):
        assert bag.counts[topic] > 0, topic


def test_a_flight_judges_trajectory_map_and_cost(flight):
    sections = metrics(flight)["sections"]
    assert sections["trajectory"]["coverage"] >= 0.9
    assert sections["trajectory"]["ape_unaligned"]["trans_m"]["rmse"] < 0.3
    assert sections["map"]["alignment"]["converged"]
    assert sections["map"]["correspondences"]["n"] > 1000
    assert sections["map_fine"]["protocol"]["choices"]["voxel_m"] == 0.25
    assert sections["resources"]["cpu_s_per_frame"] > 0.0
    assert metrics(flight)["seed"] == 1


def test_the_report_opens_without_network(flight):
    page = (run_folder(flight) / "report.html").read_text()
    assert "<svg" in page
    assert 'src="http' not in page
    assert 'href="http' not in page


def test_the_report_of_a_flight_runs_in_a_browser_without_a_complaint(flight, tmp_path):
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        pytest.skip("no Chromium: install the package chromium")
    page = run_folder(flight) / "report.html"
    shown = subprocess.run(
        [browser, "--headless", "--no-sandbox", "--disable-quic", "--enable-unsafe-swiftshader",
         "--enable-logging=stderr", f"--user-data-dir={tmp_path}", "--virtual-time-budget=4000",
         "--dump-dom", page.resolve().as_uri()],
        capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    assert shown.returncode == 0
    assert len(shown.stdout) > page.stat().st_size / 2
    # Of the browser's own pages, on a busy machine: "Slow network is detected".
    complaints = [line for line in shown.stderr.splitlines() if "CONSOLE" in line]
    assert [line for line in complaints if "chrome://resources" not in line] == []


def test_ctrl_c_leaves_a_whole_bag_a_partial_report_and_no_process(tmp_path):
    launched = Launched(tmp_path, *flight_words())
    launched.wait_for("taking off")
    os.killpg(launched.process.pid, signal.SIGINT)
    assert launched.finish() == 130, launched.output
    assert BagReader(run_folder(tmp_path) / "bag").is_complete
    assert "partial" in (run_folder(tmp_path) / "report.html").read_text()
    assert "Traceback" not in launched.output
    assert not launched.survivors


def test_ctrl_c_while_the_report_is_written_lets_it_be_finished(tmp_path, coarse_world):
    tokens = flight_words(world=coarse_world, slam="none", camera="false", duration_s=1.0)
    launched = Launched(tmp_path, *tokens)
    launched.wait_for("writing the report")
    alive = psutil.Process(launched.process.pid).children()
    (flight,) = [p for p in alive if any("sitl_flight" in w for w in p.cmdline())]
    flight.suspend()  # as if the report took longer than the launcher waits for other nodes
    os.killpg(launched.process.pid, signal.SIGINT)
    time.sleep(1.5 * SIGTERM_TIMEOUT_S)
    flight.resume()
    assert launched.finish() == 130, launched.output
    assert "sending SIGTERM" not in launched.output
    assert "a second Ctrl-C gives it up" in launched.output
    assert (run_folder(tmp_path) / "report.html").is_file()
    assert "Traceback" not in launched.output


def test_a_killed_simulator_leaves_a_bag_that_evaluate_opens(tmp_path):
    launched = Launched(tmp_path, *flight_words(slam="none", camera="false", speed=1.0))
    launched.wait_for("taking off")
    (victim,) = [p for p in launched.descendants if any("sitl_flight" in w for w in p.cmdline())]
    victim.kill()
    assert launched.finish() != 0
    assert not launched.survivors
    bag = BagReader(run_folder(tmp_path) / "bag")
    assert not bag.is_complete
    assert bag.end_ns > 1.5e9  # killed in take-off, from 3 s on; its last second may be missing
    judged = subprocess.run(
        [*AEROTWIN, "evaluate", "bag", str(bag.path), "--recorded", "-o", "judged"],
        cwd=tmp_path, capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    assert judged.returncode == 1, judged.stderr  # no SLAM took part: nothing is judged
    assert "nothing was judged" in judged.stderr
    assert "not closed by its writer" in (tmp_path / "judged" / "report.html").read_text()


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (signal.SIGKILL, "the autopilot closed the HIL link"),
        (signal.SIGSTOP, "the autopilot stopped answering"),
    ],
)
def test_an_autopilot_lost_in_flight_ends_it_with_a_whole_bag_and_a_reason(
    tmp_path, fault, message
):
    launched = Launched(tmp_path, *flight_words(slam="none", camera="false", speed=1.0))
    launched.wait_for("taking off")
    (autopilot,) = [
        p for p in launched.descendants if any("embedded_autopilot" in w for w in p.cmdline())
    ]
    autopilot.send_signal(fault)
    launched.wait_for(message)
    assert launched.finish() != 0
    assert "Traceback" not in launched.output
    assert not launched.survivors
    assert BagReader(run_folder(tmp_path) / "bag").is_complete
    assert message in (run_folder(tmp_path) / "report.html").read_text()


def test_a_mavsdk_client_flies_the_scenario_instead_of_its_mission(tmp_path):
    pytest.importorskip("mavsdk")
    script = ROOT / "src" / "aerotwin_autopilot" / "test" / "fly_with_mavsdk.py"
    launched = Launched(
        tmp_path, *flight_words(slam="none", camera="false", mission="none", speed=3.0)
    )
    launched.wait_for("ready for a client")
    client = subprocess.run(
        [sys.executable, str(script), str(offboard_port(INSTANCE))],
        capture_output=True, text=True, timeout=LIMIT_S, check=False,
    )  # fmt: skip
    os.killpg(launched.process.pid, signal.SIGINT)
    launched.finish()
    assert client.returncode == 0, client.stdout + client.stderr + launched.output
    assert json.loads(client.stdout.splitlines()[-1])["in_air"] == [False, True, False]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"world": "atlantis"}, "world 'atlantis'"),
        ({"speed": "fast"}, "speed: expected a number"),
        ({"speed": 1000.0}, "speed: expected at most 100"),
        ({"mission": "nowhere.yaml"}, "nowhere.yaml: cannot be read"),
        ({"autopilot": "px4", "px4_dir": "no/px4"}, "no/px4"),
        ({"runs_dir": "/proc/runs"}, "/proc/runs"),
        ({"colour": "red"}, "colour"),
        ({"record": "some"}, "record"),
    ],
)
def test_a_wrong_argument_is_one_clear_line_and_a_failure(tmp_path, changes, message):
    tokens = flight_words(**{"camera": "false", "slam": "none", **changes})
    launched = Launched(tmp_path, *tokens)
    assert launched.finish() != 0
    assert message in launched.output
    assert "Traceback" not in launched.output


@pytest.fixture
def busy_port() -> Iterator[int]:
    with socket.socket() as other:
        other.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        other.bind(("127.0.0.1", 4560 + INSTANCE))
        other.listen()
        yield 4560 + INSTANCE


def test_a_busy_port_is_one_clear_line_and_a_failure(tmp_path, busy_port):
    launched = Launched(tmp_path, *flight_words(camera="false", slam="none"))
    assert launched.finish() != 0
    assert f"port {busy_port}" in launched.output
    assert "Traceback" not in launched.output


def test_a_full_disk_is_one_clear_line_and_a_failure(tmp_path):
    launched = Launched(
        tmp_path, *flight_words(camera="false", slam="none"), limit_file_bytes=2_000_000
    )
    assert launched.finish() != 0
    assert "the bag cannot be written" in launched.output
    assert "Traceback" not in launched.output


@pytest.fixture(scope="module")
def kitti_metrics(tmp_path_factory, shared_data) -> dict:
    """The 51 real stereo frames of KITTI 06, as a bag, through SLAM node and evaluator."""
    folder = tmp_path_factory.mktemp("kitti")
    sequence = shared_data("image_sequences/kitti_seq_1")
    subprocess.run(
        [*AEROTWIN, "import", "kitti", str(sequence), "-o", "kitti_06"], cwd=folder, check=True
    )
    launched = Launched(folder, "evaluate", "bag", "kitti_06", "-o", "out", "--json", "out.json")
    assert launched.finish() == 0, launched.output
    return json.loads((folder / "out.json").read_text())


def test_the_real_kitti_frames_stay_within_the_known_simple_odometry(kitti_metrics):
    """Bars: those of a plain stereo odometry, 0.31 m and 1.3 cm, with their margin."""
    trajectory = kitti_metrics["sections"]["trajectory"]
    assert trajectory["coverage"] == 1.0
    assert trajectory["path_m"] == pytest.approx(59.86, abs=0.01)
    assert trajectory["ape_unaligned"]["trans_m"]["rmse"] < 0.4
    assert trajectory["rpe"]["frame"]["trans_m"]["mean"] < 0.02
