# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Record of a repeat: truth, belief, every scan's localisation, every change of state."""

import csv
import io
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.spatial.transform import Rotation

from aerotwin_core.cli import write_text_atomically
from aerotwin_core.trajectory import Trajectory
from aerotwin_core.tum import write_tum
from aerotwin_repeat_evaluation import RepeatRun
from aerotwin_teach_repeat.repeat import RepeatState, RepeatStep, Transition
from aerotwin_trajectory_evaluation.files import read_trajectory

COLUMNS = (
    "stamp_ns", "state", "is_localised", "s_m", "lateral_m", "blind_m", "v_m_s", "omega_rad_s",
    "reason",
)  # fmt: skip
RECORD = "repeat.json"
"""The last file that is written: where it is, the record is whole."""


@dataclass(frozen=True, kw_only=True, eq=False)
class RepeatRecord:
    """One repeat.

    Attributes
    ----------
    truth : Trajectory
        T_map_base of the true vehicle in the true world, 100 Hz.
    steps : tuple of RepeatStep
        The robot's estimates and commands, in the order of time.
    state : RepeatState
        The last one; `reason` says why the repeat ended.
    wall_s : float
        Wall time; the simulated time is that of `truth`.
    """

    name: str
    truth: Trajectory
    steps: tuple[RepeatStep, ...]
    transitions: tuple[Transition, ...]
    state: RepeatState
    reason: str
    wall_s: float

    @property
    def is_completed(self) -> bool:
        """Whether it reached the end of the route."""
        return self.state is RepeatState.FINISHED

    @property
    def simulated_s(self) -> float:
        """Simulated time [s]."""
        return float(self.truth.stamps_ns[-1] - self.truth.stamps_ns[0]) * 1e-9

    @property
    def believed(self) -> tuple[RepeatStep, ...]:
        """The steps of the drive: with a pose, after the first localisation, each stamp once."""
        by_stamp: dict[int, RepeatStep] = {}
        for step in self.steps[self._first_driven :]:
            if step.T_map_base is not None:
                by_stamp[step.stamp_ns] = step
        return tuple(by_stamp[stamp] for stamp in sorted(by_stamp))

    @property
    def _first_driven(self) -> int:
        driving = (RepeatState.REPEATING, RepeatState.BLIND, RepeatState.FINISHED)
        found = (k for k, step in enumerate(self.steps) if step.state in driving)
        return next(found, len(self.steps))

    @property
    def belief(self) -> Trajectory:
        """T_map_base as estimated by the robot, in the frame of the graph."""
        steps = self.believed
        return _trajectory(
            np.array([step.stamp_ns for step in steps]), np.array([s.T_map_base for s in steps])
        )

    @property
    def run(self) -> RepeatRun:
        """Truth and belief at the same stamps, for scores.

        Raises
        ------
        ValueError
            If the robot never drove.
        """
        steps = [s for s in self.believed if s.stamp_ns <= self.truth.stamps_ns[-1]]
        if not steps:
            raise ValueError(f"{self.name}: the robot never drove ({self.reason})")
        stamps = np.array([step.stamp_ns for step in steps])
        return RepeatRun(
            name=self.name,
            stamps_ns=stamps,
            T_true_base=self.truth.interpolate(stamps).transforms(),
            T_map_base=np.array([step.T_map_base for step in steps]),
            is_localized=np.array([step.is_localised for step in steps]),
            n_interventions=0 if self.is_completed else 1,
            is_completed=self.is_completed,
        )

    def write(self, folder: Path) -> None:
        """Write truth.tum, belief.tum, localisation.csv, states.csv and repeat.json, the last."""
        folder.mkdir(parents=True, exist_ok=True)
        write_tum(folder / "truth.tum", self.truth)
        if self.believed:
            write_tum(folder / "belief.tum", self.belief)
        rows = [
            (
                step.stamp_ns, step.state, int(step.is_localised), f"{step.s_m:.4f}",
                f"{step.lateral_m:.4f}", f"{step.blind_m:.3f}", f"{step.v_m_s:.4f}",
                f"{step.omega_rad_s:.5f}", step.reason,
            )
            for step in self.steps
        ]  # fmt: skip
        _write_csv(folder / "localisation.csv", COLUMNS, rows)
        changes = [(t.stamp_ns, t.before, t.after, t.reason) for t in self.transitions]
        _write_csv(folder / "states.csv", ("stamp_ns", "before", "after", "reason"), changes)
        content = {
            "name": self.name, "state": str(self.state), "reason": self.reason,
            "simulated_s": self.simulated_s, "wall_s": self.wall_s,
        }  # fmt: skip
        write_text_atomically(folder / RECORD, json.dumps(content, indent=1) + "\n")


def read_run(folder: Path) -> RepeatRun | None:
    """Return `RepeatRecord.run` from the files of `RepeatRecord.write`; None if it never drove."""
    content = json.loads((folder / RECORD).read_text(encoding="utf-8"))
    if not (folder / "belief.tum").is_file():
        return None
    truth, belief = (read_trajectory(folder / name) for name in ("truth.tum", "belief.tum"))
    by_stamp = belief.stamps_ns <= truth.stamps_ns[-1]
    belief = belief.select(np.flatnonzero(by_stamp))
    with (folder / "localisation.csv").open(encoding="utf-8", newline="") as file:
        is_localised = {row["stamp_ns"]: row["is_localised"] == "1" for row in csv.DictReader(file)}
    is_completed = content["state"] == RepeatState.FINISHED
    return RepeatRun(
        name=content["name"],
        stamps_ns=belief.stamps_ns,
        T_true_base=truth.interpolate(belief.stamps_ns).transforms(),
        T_map_base=belief.transforms(),
        is_localized=np.array([is_localised[str(stamp)] for stamp in belief.stamps_ns]),
        n_interventions=0 if is_completed else 1,
        is_completed=is_completed,
    )


def _trajectory(stamps_ns: np.ndarray, T: np.ndarray) -> Trajectory:
    T = T.reshape(-1, 4, 4)
    return Trajectory(stamps_ns, T[:, :3, 3], Rotation.from_matrix(T[:, :3, :3]).as_quat())


def _write_csv(path: Path, columns, rows) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    write_text_atomically(path, text.getvalue())
