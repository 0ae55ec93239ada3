# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Scores of trajectories of 100 000 poses, and of a real one from the command line, beside evo."""

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.child_python import python_command
from aerotwin_core.trajectory import Trajectory
from aerotwin_trajectory_evaluation import TrajectoryProtocol
from aerotwin_trajectory_evaluation.alignment import align_trajectories
from aerotwin_trajectory_evaluation.association import pair
from aerotwin_trajectory_evaluation.evo_check import evo_ape, evo_rpe
from aerotwin_trajectory_evaluation.metrics import absolute_errors, relative_errors_by_path
from evidence.benchmarks.result import Benchmark

N_POSES = 100_000
RATE_HZ = 100.0
NOISE_M, NOISE_RAD = 0.05, 0.01
SEED = 1000
DELTA_M = 10.0
N_RUNS = 5
TIMES_EVO = {"APE": 5.0, "RPE": 50.0, "command": 0.7}
"""Measured 7.9, 90 and 1.1; the command makes more than evo's one score."""
FILES = ("fr2_desk_groundtruth.txt", "fr2_desk_ORB.txt")


def trajectory_scores() -> list[Benchmark]:
    """Score 100 000 poses (APE; RPE over 10 m, all pairs) and fr2/desk from the command line."""
    return [*_absolute(), *_relative(), *_command()]


def _pair() -> tuple[Trajectory, Trajectory]:
    """Return a flight of 1000 s that turns and climbs, and a noisy estimate of it."""
    t = np.arange(N_POSES) / RATE_HZ
    rng = np.random.default_rng(SEED)
    p = np.column_stack([50 * np.sin(t / 20), 40 * np.sin(t / 13), 5 + np.sin(t / 7)])
    angles = np.column_stack([0.1 * np.sin(t), 0.1 * np.cos(t), np.sin(t / 9)])
    attitude = Rotation.from_rotvec(angles)
    noise = Rotation.from_rotvec(rng.normal(0.0, NOISE_RAD, (N_POSES, 3)))
    stamps = np.round(t * 1e9).astype(np.int64)
    truth = Trajectory(stamps, p, attitude.as_quat())
    positions = p + rng.normal(0.0, NOISE_M, p.shape)
    return truth, Trajectory(stamps, positions, (attitude * noise).as_quat())


def _absolute() -> list[Benchmark]:
    truth, estimate = _pair()

    def ours() -> None:
        paired, guess, _ = pair(truth, estimate, TrajectoryProtocol())
        aligned = align_trajectories(paired, guess, "se3").apply(guess)
        absolute_errors(paired, aligned)

    name = f"APE of {N_POSES} poses, associated and aligned"
    return _beside(name, _fresh(ours, truth, estimate), evo_ape(truth, estimate), TIMES_EVO["APE"])


def _relative() -> list[Benchmark]:
    truth, estimate = _pair()
    choices = TrajectoryProtocol(rpe_m=DELTA_M, rpe_all_pairs=True)
    peer = evo_rpe(truth, estimate, DELTA_M)
    name = f"RPE over {DELTA_M:g} m of {N_POSES} poses, all pairs"
    score = lambda: relative_errors_by_path(truth, estimate, choices)  # noqa: E731
    return _beside(name, _fresh(score, truth, estimate), peer, TIMES_EVO["RPE"])


def _fresh(call: Callable[[], object], *trajectories: Trajectory) -> Callable[[], object]:
    """Return the call with nothing kept from the run before: matrices are made anew."""

    def run() -> None:
        for trajectory in trajectories:
            trajectory.__dict__.pop("R_ref_body", None)
        call()

    return run


def _beside(
    name: str, ours: Callable[[], object], evo: Callable[[], object], goal: float
) -> list[Benchmark]:
    seconds = median(_seconds(ours) for _ in range(N_RUNS))
    peer = "evo, the same scores"
    return [Benchmark.beside(name, "s", seconds, peer=peer, peer_value=_seconds(evo), goal=goal)]


def _command() -> list[Benchmark]:
    """Time the whole process on real files, caches warm, in turn with evo_ape."""
    name = "evaluate trajectory on fr2/desk, process start to numbers"
    value = peer = None
    folder = _data_folder()
    if folder is not None:
        value, peer = _command_seconds(folder)
    return [
        Benchmark.beside(
            name, "s", value, peer="evo_ape tum -a", peer_value=peer, goal=TIMES_EVO["command"]
        )
    ]


def _command_seconds(folder: Path) -> tuple[float, float]:
    files = [str(folder / file) for file in FILES]
    ours = python_command("-m", "aerotwin_core.cli", "evaluate", "trajectory", *files)
    evo_ape = shutil.which("evo_ape", path=str(Path(sys.executable).parent)) or "evo_ape"
    evo = [evo_ape, "tum", *files, "-a"]
    seconds: dict[str, list[float]] = {"ours": [], "evo": []}
    for run in range(N_RUNS + 1):
        for key, command in (("ours", ours), ("evo", evo)):
            taken = _seconds(lambda c=command: subprocess.run(c, check=True, capture_output=True))
            if run:
                seconds[key].append(taken)
    return median(seconds["ours"]), median(seconds["evo"])


def _data_folder() -> Path | None:
    """Return the folder with the real trajectories, None where they are not."""
    root = Path(os.environ.get("AEROTWIN_SHARED_DATA", "../shared/data"))
    folder = root / "trajectories" / "evo"
    return folder if all((folder / file).is_file() for file in FILES) else None


def _seconds(call: Callable[[], object]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start
