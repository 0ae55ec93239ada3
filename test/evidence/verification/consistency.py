# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Monte Carlo of the embedded autopilot's estimator: whether it is as wrong as it says.

Each seed is a closed-loop flight in this process: dynamics, sensors, the whole autopilot, no
sockets. After take-off the vehicle flies a figure that excites every state, with its nose turning.
The normalised estimation error squared (NEES) of position, velocity and attitude is averaged over
the runs at each instant and compared with the chi-square bounds of as many samples. The campaign is
campaigns/consistency.yaml.

References
----------
Bar-Shalom, Li, Kirubarajan, "Estimation with Applications to Tracking and Navigation", 2001,
sec. 5.4.2 (consistency of state estimators).
"""

import math
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation
from scipy.stats import chi2

from aerotwin_autopilot import Autopilot, load_autopilot_parameters
from aerotwin_autopilot.offboard import OffboardTarget
from aerotwin_autopilot.px4_modes import Mode
from aerotwin_campaign import FinishedRun, OverallFigures, RunContext
from aerotwin_core import plots
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
from aerotwin_core.plots import render_svg
from aerotwin_core.section import Cell, Figure, Section, Table
from aerotwin_multirotor_dynamics import (
    Multirotor,
    MultirotorState,
    RotorVibration,
    load_airframe,
    standing_pose,
)
from aerotwin_px4_bridge.messages import HilGps, HilSensor
from aerotwin_sensor_models import (
    Barometer,
    Gnss,
    GnssParameters,
    Imu,
    Magnetometer,
    load_preset,
    magnetic_field_enu_tesla,
    seed_sequence,
)

STEP_US = 4000
STEP_S = STEP_US * 1e-6
HOME = GeodeticPoint(latitude_deg=47.397742, longitude_deg=8.545594, altitude_m=488.0)
YEAR = 2026.0
BLOCKS = ("position", "velocity", "attitude")
DEGREES = 3
"""Of freedom in each block."""
JUDGED_AFTER_S = 20.0
ROUNDING = 1e-6
EVERY = 10
"""Steps between two looks: 25 Hz."""
TAKEOFF_AT_S, MOVE_AT_S = 3.0, 9.0
CONFIDENCE = 0.95
WANDERING = ("walk_horizontal_m", "walk_vertical_m", "turn_on_horizontal_m", "turn_on_vertical_m")
KEPT = "nees.npy"
"""File of a run: (k, 3)."""


def gnss_parameters(name: str) -> GnssParameters:
    """Return a GNSS by name: `white` is `gnss_default` without correlated and constant errors."""
    if name == "white":
        without = dict.fromkeys(WANDERING, 0.0)
        return replace(load_preset("gnss", "gnss_default"), **without)
    return load_preset("gnss", name)


class Twin:
    """An iris with the sensors of the default flight, whose truth is known.

    Parameters
    ----------
    seed : int
        Of all its noise.
    gnss : GnssParameters
        Its receiver.
    """

    def __init__(self, seed: int, gnss: GnssParameters) -> None:
        airframe = load_airframe("iris")
        p, q = standing_pose(airframe, ground_point=(3.0, -2.0, 0.0), yaw_rad=math.pi / 2)
        self.body = Multirotor(
            airframe, p_map_body=p, q_map_body=q, origin_altitude_m=HOME.altitude_m
        )
        self._vibration = RotorVibration(airframe, seed_sequence(seed, 0, "vibration"))
        self.plane = LocalTangentPlane(HOME)
        imu, air, field, fix = (
            seed_sequence(seed, 0, name) for name in ("imu", "baro", "mag", "gnss")
        )
        self._imu = Imu(load_preset("imu", "adis16448"), imu)
        self._barometer = Barometer(load_preset("barometer", "default"), air)
        self._magnetometer = Magnetometer(load_preset("magnetometer", "default"), field)
        self._gnss = Gnss(gnss, fix, self.plane)
        self._field = magnetic_field_enu_tesla(HOME, YEAR)
        self._past: deque[tuple[np.ndarray, np.ndarray]] = deque(maxlen=128)
        self._steps_per_fix = round(1.0 / gnss.rate_hz / STEP_S)
        self._air_us = self._field_us = self.time_us = 0

    def step(self, commands: Sequence[float], *, is_armed: bool) -> tuple[HilSensor, HilGps | None]:
        """Advance one step; return what the autopilot gets."""
        self.body.step(commands, STEP_S, is_armed=is_armed)
        self.time_us += STEP_US
        state = self.body.state
        self._past.append((state.p_map_body, state.v_map_body))
        force, rate, turning = self._vibration.felt(STEP_S, self.body.state_vector).reshape(3, 3)
        imu = self._imu.sample(STEP_S, force, rate, alpha_body=turning)
        sensor = HilSensor(
            self.time_us,
            tuple(imu.specific_force.tolist()),
            tuple(imu.angular_velocity.tolist()),
            self._read_field(state),
            *self._read_air(state),
        )
        return sensor, self._fix()

    def _read_air(self, state: MultirotorState) -> tuple[float | None, float | None]:
        """Return pressure and temperature, None where none is due in this step."""
        elapsed_s = (self.time_us - self._air_us) * 1e-6
        if elapsed_s * self._barometer.parameters.rate_hz < 1.0 - ROUNDING:
            return None, None
        self._air_us = self.time_us
        altitude = HOME.altitude_m + float(state.p_map_body[2])
        air = self._barometer.sample(elapsed_s, altitude)
        return air.pressure_pa, air.temperature_k

    def _read_field(self, state: MultirotorState) -> tuple[float, float, float] | None:
        """Return the magnetic field, None where none is due in this step."""
        elapsed_s = (self.time_us - self._field_us) * 1e-6
        if elapsed_s * self._magnetometer.parameters.rate_hz < 1.0 - ROUNDING:
            return None
        self._field_us = self.time_us
        x, y, z = self._magnetometer.sample(elapsed_s, state.R_map_body, self._field).tolist()
        return x, y, z

    def _fix(self) -> HilGps | None:
        """Return the fix that arrives now: of an instant the delay ago, between two steps."""
        if self.time_us // STEP_US % self._steps_per_fix:
            return None
        steps, share = divmod(self._gnss.parameters.delay_s / STEP_S, 1.0)
        newest = len(self._past) - 1
        later = self._past[max(0, newest - int(steps))]
        earlier = self._past[max(0, newest - int(steps) - 1)]
        p, v = ((1.0 - share) * a + share * b for a, b in zip(later, earlier, strict=True))
        fix = self._gnss.sample(self._steps_per_fix * STEP_S, p, v)
        return HilGps(
            self.time_us,
            round(fix.latitude_deg * 1e7) * 1e-7,
            round(fix.longitude_deg * 1e7) * 1e-7,
            round(fix.altitude_m * 1e3) * 1e-3,
            tuple(np.round(fix.v_map, 2).tolist()),
            round(float(fix.position_std_m[0]), 2),
            round(float(fix.position_std_m[2]), 2),
            3,
            10,
        )


def figure_of_motion(t: float) -> OffboardTarget:
    """Return where to be t seconds after the motion began, about the place where it began.

    A slow figure of eight, up and down, with a steady turn of the nose; it begins at rest.
    """
    rates, sizes = np.array([0.42, 0.27, 0.33]), np.array([6.0, 8.0, 1.0])
    ease = min(t / 4.0, 1.0)
    s = ease**3 * (10.0 - 15.0 * ease + 6.0 * ease**2)
    ds = 30.0 * ease**2 * (1.0 - ease) ** 2 / 4.0
    p = sizes * np.sin(rates * t)
    v = sizes * rates * np.cos(rates * t)
    a = -sizes * rates**2 * np.sin(rates * t)
    return OffboardTarget(
        position=tuple((s * p).tolist()),
        velocity=tuple((s * v + ds * p).tolist()),
        acceleration=tuple((s * a + 2.0 * ds * v).tolist()),
        yaw=math.pi / 2 + 0.25 * t,
    )


def nees(twin: Twin, autopilot: Autopilot) -> list[float]:
    """Return the NEES of position, velocity and attitude: errors against truth, as they are."""
    estimator, truth = autopilot.estimator, twin.body.state
    assert estimator.plane is not None
    output, covariance = estimator.output, estimator.present_covariance()
    position = estimator.plane.from_geodetic(*twin.plane.to_geodetic(truth.p_map_body))
    turn = Rotation.from_quat(truth.q_map_body) * Rotation.from_quat(output[6:10]).inv()
    errors = (position - output[:3], truth.v_map_body - output[3:6], turn.as_rotvec())
    blocks = (covariance[k : k + 3, k : k + 3] for k in (0, 3, 6))
    return [float(e @ np.linalg.solve(P, e)) for e, P in zip(errors, blocks, strict=True)]


def fly(seed: int, gnss: GnssParameters, duration_s: float) -> np.ndarray:
    """Fly one seed; return the NEES (k, 3) at 25 Hz from `JUDGED_AFTER_S` on.

    Raises
    ------
    RuntimeError
        If the vehicle is not in its motion by then: a result would say nothing.
    """
    twin, autopilot = Twin(seed, gnss), Autopilot(load_autopilot_parameters())
    modes = autopilot.modes
    commands: Sequence[float] = (0.0,) * 4
    start = np.zeros(3)
    rows: list[list[float]] = []
    for k in range(1, round(duration_s / STEP_S) + 1):
        sensor, fix = twin.step(commands, is_armed=modes.is_armed)
        if fix is not None:
            autopilot.on_gnss_fix(fix)
        commands = autopilot.on_imu_sample(sensor)
        t = twin.time_us * 1e-6
        if t >= TAKEOFF_AT_S and not modes.is_armed and not modes.refusals():
            modes.take_off(None)
            modes.arm()
        if t >= MOVE_AT_S - 1.0 and k % 5 == 0:
            if t < MOVE_AT_S:
                start = modes.position.copy()
            target = figure_of_motion(max(0.0, t - MOVE_AT_S))
            place = tuple((start + np.array(target.position)).tolist())
            modes.offboard.on_target(replace(target, position=place), t)
        if t >= MOVE_AT_S and modes.mode is Mode.HOLD:
            modes.set_mode(Mode.OFFBOARD)
        if t >= JUDGED_AFTER_S and k % EVERY == 0:
            rows.append(nees(twin, autopilot))
    if modes.mode is not Mode.OFFBOARD or twin.body.is_crashed:
        raise RuntimeError(f"consistency: seed {seed} does not fly its figure ({modes.mode.name})")
    return np.array(rows)


def fly_seed(document: Mapping[str, Any], context: RunContext) -> dict[str, Any]:
    """Fly the seed of a run with the GNSS of its document; keep its NEES."""
    found = fly(context.seed, gnss_parameters(document["gnss"]), document["duration_s"])
    np.save(context.folder / KEPT, found)
    means = found.mean(axis=0) / DEGREES
    metrics = {f"nees_{block}_per_dof": float(x) for block, x in zip(BLOCKS, means, strict=True)}
    return {"metrics": metrics, "is_success": True, "outcome": "the figure is flown"}


@dataclass(frozen=True, kw_only=True)
class Consistency:
    """The NEES of all flights with one receiver.

    Attributes
    ----------
    gnss : str
        Name of the receiver.
    nees : (runs, k, 3) array
        Per run, instant and block.
    """

    gnss: str
    nees: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """Averaged over the runs and divided by the degrees of freedom, (k, 3)."""
        averaged: np.ndarray = self.nees.mean(axis=0) / DEGREES
        return averaged

    @property
    def bounds(self) -> tuple[float, float]:
        """The interval in which `mean` of a consistent filter lies, at each instant, 95 %."""
        n = len(self.nees) * DEGREES
        low, high = chi2.ppf((0.5 - 0.5 * CONFIDENCE, 0.5 + 0.5 * CONFIDENCE), n) / n
        return float(low), float(high)

    def values(self) -> dict[str, Any]:
        """Return what is judged, by block."""
        low, high = self.bounds
        mean = self.mean
        inside = ((mean >= low) & (mean <= high)).mean(axis=0)
        return {
            "share_within_bounds": dict(zip(BLOCKS, inside.tolist(), strict=True)),
            "nees_per_dof": dict(zip(BLOCKS, mean.mean(axis=0).tolist(), strict=True)),
        }


def figures(runs: Sequence[FinishedRun]) -> OverallFigures:
    """Judge the flights of each receiver together; those without a result are failures already."""
    kept: dict[str, list[np.ndarray]] = {}
    for run in runs:
        if run.is_success:
            kept.setdefault(run.axes["gnss"], []).append(np.load(run.file(KEPT)))
    found = [Consistency(gnss=gnss, nees=np.array(nees)) for gnss, nees in kept.items()]
    return OverallFigures(
        values={each.gnss: each.values() for each in found}, sections=[_section(found)]
    )


def _section(found: Sequence[Consistency]) -> Section:
    """Return the chapter: mean NEES per degree of freedom over time, with its bounds."""
    columns = ("GNSS", "flights", "bounds", *(f"{block}: mean, within [%]" for block in BLOCKS))
    rows: list[tuple[Cell, ...]] = []
    for each in found:
        (low, high), values = each.bounds, each.values()
        cells = (
            f"{values['nees_per_dof'][b]:.2f}, {100.0 * values['share_within_bounds'][b]:.0f}"
            for b in BLOCKS
        )
        rows.append((each.gnss, len(each.nees), f"{low:.2f} … {high:.2f}", *cells))
    drawn = Figure(
        title="Normalised estimation error squared",
        caption="Mean over the flights at each instant, per degree of freedom; grey: where that of "
        "a filter that is as wrong as it says lies, 95 % of the time.",
        svg=render_svg(picture(found), "nees"),
        is_wide=True,
    )
    return Section(
        title="Consistency of the estimator",
        name="nees",
        figures=(drawn,) if found else (),
        tables=(Table(title="NEES per degree of freedom", columns=columns, rows=tuple(rows)),),
    )


def picture(found: Sequence[Consistency]) -> Any:
    """Return a figure: the mean NEES per degree of freedom over time, with its bounds."""
    figure = plots.new_figure(plots.WIDE_IN, 2.6 * len(found) + 0.4)
    with plots.style():
        axes = figure.subplots(len(found), 1, sharex=True, squeeze=False)[:, 0]
        for ax, each in zip(axes, found, strict=True):
            time = JUDGED_AFTER_S + np.arange(len(each.mean)) * EVERY * STEP_S
            ax.axhspan(*each.bounds, color=plots.TRUTH, alpha=0.3, label="95 % bounds")
            colours = (plots.ESTIMATE, plots.ALIGNED, plots.FLOOR)
            for block, colour, values in zip(BLOCKS, colours, each.mean.T, strict=True):
                ax.plot(time, values, color=colour, label=block)
            ax.set_ylim(0.0, 2.5)
            ax.set_title(f"GNSS {each.gnss}, {len(each.nees)} runs")
            ax.set_ylabel("NEES per degree of freedom")
        axes[-1].set_xlabel("time [s]")
        axes[0].legend(ncols=4, loc="upper right")
    return figure
