# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Monte Carlo of the embedded autopilot's estimator: whether it is as wrong as it says.

Each seed is a closed-loop flight in this process: dynamics, sensors, the whole autopilot, no
sockets. After take-off the vehicle flies a figure that excites every state, with its nose turning.
The normalised estimation error squared (NEES) of position, velocity and attitude is averaged over
the runs at each instant and compared with the chi-square bounds of as many samples. The command is
`make verify NAMES=consistency`.

References
----------
Bar-Shalom, Li, Kirubarajan, "Estimation with Applications to Tracking and Navigation", 2001,
sec. 5.4.2 (consistency of state estimators).
"""

import math
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.spatial.transform import Rotation
from scipy.stats import chi2

from aerotwin_autopilot import Autopilot, load_autopilot_parameters
from aerotwin_autopilot.offboard import OffboardTarget
from aerotwin_autopilot.px4_modes import Mode
from aerotwin_core.geodesy import GeodeticPoint, LocalTangentPlane
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
MIN_SHARE, MAX_MEAN = 0.9, 1.5
"""Share of instants within the bounds (white GNSS); mean NEES per degree of freedom (default)."""


def gnss_parameters(name: str) -> GnssParameters:
    """Return a GNSS by name: `white` is `gnss_default` without its correlated error."""
    if name == "white":
        preset = load_preset("gnss", "gnss_default")
        return replace(preset, walk_horizontal_m=0.0, walk_vertical_m=0.0)
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


@dataclass(frozen=True, kw_only=True)
class Consistency:
    """The NEES of a campaign.

    Attributes
    ----------
    gnss : str
        Name of the receiver.
    seeds : tuple of int
        All seeds flown.
    nees : (runs, k, 3) array
        Per run, instant and block.
    """

    gnss: str
    seeds: tuple[int, ...]
    nees: np.ndarray

    @property
    def mean(self) -> np.ndarray:
        """Averaged over the runs and divided by the degrees of freedom, (k, 3)."""
        averaged: np.ndarray = self.nees.mean(axis=0) / DEGREES
        return averaged

    @property
    def bounds(self) -> tuple[float, float]:
        """The interval in which `mean` of a consistent filter lies, at each instant, 95 %."""
        n = len(self.seeds) * DEGREES
        low, high = chi2.ppf((0.5 - 0.5 * CONFIDENCE, 0.5 + 0.5 * CONFIDENCE), n) / n
        return float(low), float(high)

    def figures(self) -> dict[str, Any]:
        """Return what is judged, ready for JSON."""
        low, high = self.bounds
        mean = self.mean
        inside = ((mean >= low) & (mean <= high)).mean(axis=0)
        totals = mean.mean(axis=0)
        is_white = self.gnss == "white"
        met = inside.min() >= MIN_SHARE if is_white else totals.max() <= MAX_MEAN
        return {
            "gnss": self.gnss,
            "seeds": list(self.seeds),
            "bounds_per_dof": [low, high],
            "share_within_bounds": dict(zip(BLOCKS, inside.tolist(), strict=True)),
            "nees_per_dof": dict(zip(BLOCKS, totals.tolist(), strict=True)),
            "threshold": f"share within at least {MIN_SHARE}"
            if is_white
            else f"at most {MAX_MEAN}",
            "met": bool(met),
        }


def run_campaign(
    gnss: str, seeds: Sequence[int], duration_s: float, advance: Callable[[int], Any]
) -> Consistency:
    """Fly all seeds with one receiver; `advance(1)` is called after each."""
    parameters, runs = gnss_parameters(gnss), []
    for seed in seeds:
        runs.append(fly(seed, parameters, duration_s))
        advance(1)
    return Consistency(gnss=gnss, seeds=tuple(seeds), nees=np.array(runs))


def picture(campaigns: Sequence[Consistency]) -> Any:
    """Return a figure: the mean NEES per degree of freedom over time, with its bounds."""
    from aerotwin_core import plots

    figure = plots.new_figure(plots.WIDE_IN, 2.6 * len(campaigns) + 0.4)
    with plots.style():
        axes = figure.subplots(len(campaigns), 1, sharex=True, squeeze=False)[:, 0]
        for ax, campaign in zip(axes, campaigns, strict=True):
            time = JUDGED_AFTER_S + np.arange(len(campaign.mean)) * EVERY * STEP_S
            ax.axhspan(*campaign.bounds, color=plots.TRUTH, alpha=0.3, label="95 % bounds")
            colours = (plots.ESTIMATE, plots.ALIGNED, plots.FLOOR)
            for block, colour, values in zip(BLOCKS, colours, campaign.mean.T, strict=True):
                ax.plot(time, values, color=colour, label=block)
            ax.set_ylim(0.0, 2.5)
            ax.set_title(f"GNSS {campaign.gnss}, {len(campaign.seeds)} runs")
            ax.set_ylabel("NEES per degree of freedom")
        axes[-1].set_xlabel("time [s]")
        axes[0].legend(ncols=4, loc="upper right")
    return figure
