# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Routes that are taught virtually, in the project's own reconstruction of a survey from the air.

Every stage is a command that a user can call; its output is kept in a log beside its folder.
Marks are painted on the true ground, found in the reconstruction's ortho picture, and the route is
taught through them where they appear there. Nothing is told of the truth but where they were
painted, for the tape measure.
"""

import subprocess
from functools import partial
from pathlib import Path

from aerotwin_campaign import MachineFailure
from aerotwin_core.child_python import python_command
from aerotwin_core.errors import UserError
from aerotwin_core.numbered_lock import claimed_number
from aerotwin_scenarios.teach_command import EXIT_NOT_PASSABLE
from aerotwin_scenarios.teach_repeat.judging import route_through_marks
from aerotwin_scenarios.teach_repeat.survey_marks import ROUTE, SCORE
from aerotwin_simulator.parameters import MAX_INSTANCE
from aerotwin_teach_repeat.route_graph import RouteGraph
from aerotwin_worlds import load_world
from evidence.verification.repeats.case import Case, TaughtRoute, Thresholds

AREA_M = ("-75", "-60", "75", "60")
"""Round the loop of the campus, and what a lidar sees from it."""
FIRST_INSTANCE, N_INSTANCES = 100, 50
"""Numbers of the vehicles that fly, by seed: of their noise. Ports are shifted to free ones."""


def teach_in_reconstruction(seed: int, folder: Path, *, name: str) -> TaughtRoute:
    """Return the route of a generated world of that seed, taught in its reconstruction.

    Parameters
    ----------
    seed : int
        Of world, flight and receiver.
    folder : Path
        Keeps survey, reconstruction, marks and graph.
    name : str
        Of the world.

    Raises
    ------
    aerotwin_core.errors.UserError
        If a stage fails, with the name of its log.
    """
    spec = f"{name}@{seed}"
    survey, built = folder / "survey", folder / "reconstruction"
    instance = FIRST_INSTANCE + seed % N_INSTANCES
    with claimed_number("instance", range(instance, MAX_INSTANCE + 1)) as number:
        if number is None:
            raise MachineFailure(f"the numbers of vehicles from {instance} on are all in use")
        _call(
            "survey", spec, "--area-m", *AREA_M, "--marks", "route", "--seed", seed,
            "--instance", instance, "--port-shift", number - instance, "-o", survey,
            log=folder / "survey.log",
        )  # fmt: skip
    _call("reconstruct", survey, "--against", spec, "-o", built, log=folder / "reconstruction.log")
    return teach_through_marks(spec, folder)


def teach_through_marks(spec: str, folder: Path) -> TaughtRoute:
    """Return the route of a world through its marks in the reconstruction, in `folder`."""
    survey, built, marks = (folder / part for part in ("survey", "reconstruction", "marks"))
    arguments = ("reconstruct", "marks", built, "--survey", survey, "-o", marks)
    _call(*arguments, log=folder / "marks.log", allowed=1)
    _teach(built, marks, folder / "graph")
    graph = RouteGraph.load(folder / "graph")
    poses = graph.poses_map(graph.runs[0])
    route = route_through_marks(spec, poses, marks / SCORE)
    return TaughtRoute(graph=graph, route=route, world=load_world(spec))


def _teach(built: Path, marks: Path, graph: Path) -> None:
    """Teach through the marks, past what floats over the road in the reconstruction."""
    arguments = ("--route", marks / ROUTE, "--anyway", "--no-picture", "-o", graph)
    log = marks.parent / "teach.log"
    _call("teach", built / "cloud.ply", *arguments, log=log, allowed=EXIT_NOT_PASSABLE)


def _call(*arguments: object, log: Path, allowed: int = 0) -> None:
    """Run a command in a process of its own, which gives its memory back."""
    line = [str(token) for token in arguments]
    with log.open("w", encoding="utf-8") as file:
        file.write(f"aerotwin {' '.join(line)}\n")
        file.flush()
        code = subprocess.run(
            python_command("-m", "aerotwin_core.cli", *line),
            stdout=file,
            stderr=file,
            check=False,
        ).returncode
    if code not in (0, allowed):
        raise UserError(f"aerotwin {line[0]} ended with exit code {code}: see {log}")


SURVEY = Case(
    name="survey",
    title="virtual, own survey and reconstruction, loop of 300 m",
    teach=partial(teach_in_reconstruction, name="campus"),
    n_repeats=3,
    thresholds=Thresholds(rmse_m=0.12, max_m=0.30),
)
