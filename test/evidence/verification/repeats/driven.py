# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""A route that is taught by driving it: a person steers round the campus, lidar odometry records.

The person knows where the robot is; the teacher has scans and wheel speeds only. The marks lie
where the taught robot truly passed, so an offset is that of the repeat from the teach, as it is
measured where a person teaches by driving over marks.
"""

from functools import partial
from itertools import count
from pathlib import Path

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.time import to_seconds
from aerotwin_core.trajectory import Trajectory
from aerotwin_core.tum import write_tum
from aerotwin_ground_dynamics import VelocityCommand
from aerotwin_ground_simulator import NO_FAULTS
from aerotwin_reconstruction.degradation import sample_surface
from aerotwin_rendering import WorldQueries
from aerotwin_repeat_evaluation import DrivenDisplacement, arc_length, marks_on_route
from aerotwin_scenarios.teach_repeat import RepeatStudy
from aerotwin_scenarios.teach_repeat.closed_loop import SETTLE_S, LidarSensor
from aerotwin_scenarios.teach_repeat.judging import TaughtRouteTruth
from aerotwin_scenarios.world_routes import route_of_world
from aerotwin_teach_repeat.route_graph import RouteGraph
from aerotwin_teach_repeat.teaching import (
    DriveTeacher,
    marker_stations,
    read_driven,
    virtual_path,
)
from aerotwin_teach_repeat.tracking import RouteProgress
from aerotwin_worlds import World, load_world
from evidence.verification.repeats.case import Case, TaughtRoute, Thresholds

TEACH = 1000
"""Number of the drive that teaches, beyond those of repeats: slip and noise of its own."""
SPACING_M = 0.15
"""Of the samples of the true surface that tell how the ground lies below the path."""
AT_END_M = 0.2
"""What is left of the route when the drive ends: VTR3's end of a route."""


def teach_by_driving(seed: int, folder: Path, *, name: str) -> TaughtRoute:
    """Return the route of a generated world of that seed, taught by a drive with that seed."""
    world = load_world(f"{name}@{seed}")
    _drive(world, f"{name}@{seed}", seed, folder / "graph")
    graph = RouteGraph.load(folder / "graph")
    return TaughtRoute(
        graph=graph,
        route=route_as_driven(f"{name}@{seed}", graph, read_driven(folder / "graph" / "truth.tum")),
        world=world,
    )


def route_as_driven(name: str, graph: RouteGraph, truth: Trajectory) -> TaughtRouteTruth:
    """Return the route of a driven graph, with marks where the vehicle truly passed.

    Parameters
    ----------
    name : str
    graph : RouteGraph
        Its vertices have the stamps of the drive.
    truth : Trajectory
        T_map_base of the drive in the true world.
    """
    ids = graph.runs[0]
    poses = graph.poses_map(ids)
    stamps_ns = np.array([graph.vertex(k).stamp_ns for k in ids])
    displacement = DrivenDisplacement(poses, truth.interpolate(stamps_ns).transforms())
    s_m = np.array(marker_stations(float(arc_length(poses[:, :2, 3])[-1])))
    marks = marks_on_route(poses, s_m, displacement)
    return TaughtRouteTruth(
        name=name, T_map_route=poses, marks=marks, displacement=displacement, floor=None
    )


def _drive(world: World, spec: str, seed: int, folder: Path) -> None:
    """Drive once round, write the graph and, beside it, the truth."""
    surface = sample_surface(world.meshes, SPACING_M, seed=seed)
    route = route_of_world(spec)
    path = virtual_path(surface.points_map, route.waypoints, is_closed=route.is_closed)
    teacher = DriveTeacher(folder)
    truth = drive(WorldQueries(world), path.poses_map, RepeatStudy(seed=seed), teacher)
    teacher.finish()
    write_tum(folder / "truth.tum", truth)


def drive(
    queries: WorldQueries, poses_map: np.ndarray, study: RepeatStudy, teacher: DriveTeacher
) -> Trajectory:
    """Steer a robot along poses (n, 4, 4) by its true pose, show its scans to a teacher.

    Returns
    -------
    Trajectory
        T_map_base of the drive.

    Raises
    ------
    aerotwin_core.errors.UserError
        If it does not come to the end in time.
    """
    sensor = LidarSensor(study)
    simulation = sensor.simulate(study.robot_of(TEACH), queries, poses_map[0], NO_FAULTS)
    tracker = study.tracker_of(poses_map)
    progress = RouteProgress(tracker.route)
    limit_s = SETTLE_S + study.time_limit * tracker.route.length_m
    for k in count(1):
        for scan in simulation.advance_to(k * sensor.period_ns):
            twist = np.array(simulation.vehicle.wheel_odometry.twist)
            points, times_s = sensor.measured(scan)
            teacher.add(points, times_s, scan.stamp_ns, twist)
        T_map_base, now_s = simulation.vehicle.T_map_base, to_seconds(simulation.stamp_ns)
        progress.update(T_map_base)
        if progress.left_m < AT_END_M:
            return simulation.truth
        if now_s > limit_s:
            raise UserError(f"the drive that teaches is not over after {now_s:.0f} s")
        sent = tracker.command(
            T_map_base, np.array(simulation.vehicle.twist), progress.s_m,
            time_s=now_s + study.robot.latency_s, age_s=study.robot.latency_s,
        )  # fmt: skip
        simulation.set_command(VelocityCommand(sent.v_m_s, sent.omega_rad_s))
    raise AssertionError("counting ends never")


DRIVEN = Case(
    name="driven",
    title="taught by driving, loop of 300 m",
    teach=partial(teach_by_driving, name="campus"),
    n_repeats=3,
    thresholds=Thresholds(rmse_m=0.02, max_m=0.06),
)
