# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Autopilots as processes: started in their own group, pinned, logged, and always stopped."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from aerotwin_core.errors import UserError
from aerotwin_core.geodesy import GeodeticPoint
from aerotwin_px4_bridge import spawn

EMBEDDED_COMMAND = "embedded_autopilot"
PX4_MODEL = "none_iris"
FASTEST = 20.0
"""The real-time factor to prepare PX4 for when none is wanted: seen 12 to 26 on two cores."""
PX4_BUILD = Path("build/px4_sitl_default")

_STOP_SIGNALS = ((signal.SIGINT, 2.0), (signal.SIGTERM, 1.0), (signal.SIGKILL, 2.0))
_LOG_TAIL_BYTES = 4096
_LOG_TAIL_LINES = 3


class AutopilotProcess:
    """One autopilot program.

    It runs in a process group of its own (Ctrl-C in the terminal does not reach it), is killed by
    the kernel when this process dies, and writes to a log file.

    Parameters
    ----------
    command : sequence of str
        Program and arguments.
    log_path : Path
        Where its output goes.
    cwd : Path, optional
        Its working directory; made when missing.
    environment : mapping, optional
        Variables besides those of this process.
    cpu : int, optional
        The one core it may use; None for any.
    name : str
        What messages call it.

    Notes
    -----
    The kernel ties a process to the thread that started it: start it from a thread that lives as
    long as the flight, best the main thread.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        log_path: Path,
        cwd: Path | None = None,
        environment: Mapping[str, str] | None = None,
        cpu: int | None = None,
        name: str = "autopilot",
    ) -> None:
        self.command = list(command)
        self.log_path = Path(log_path)
        self.cwd = None if cwd is None else Path(cwd)
        self.environment = dict(environment or {})
        self.cpu = cpu
        self.name = name
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def pid(self) -> int | None:
        """Process id, None before the start."""
        return None if self._process is None else self._process.pid

    @property
    def is_running(self) -> bool:
        """Whether it was started and has not ended."""
        return self._process is not None and self._process.poll() is None

    def start(self) -> None:
        """Start it.

        Raises
        ------
        UserError
            If the program is not there.
        """
        program = self.command[0]
        if shutil.which(program) is None:
            raise UserError(f"{self.name}: program {program} not found; build or install it")
        self.log_path.parent.mkdir(parents=True, exist_ok=True)
        if self.cwd is not None:
            self.cwd.mkdir(parents=True, exist_ok=True)
        cpu = "-" if self.cpu is None else str(self.cpu)
        become = [sys.executable, "-I", "-S", spawn.__file__, str(os.getpid()), cpu]
        with self.log_path.open("wb") as log:
            self._process = subprocess.Popen(
                [*become, *self.command],
                cwd=self.cwd,
                env={**os.environ, **self.environment},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                process_group=0,
            )

    def stop(self) -> None:
        """End it and every process of its group, within five seconds."""
        process = self._process
        if process is None:
            return
        for number, patience_s in _STOP_SIGNALS:
            if process.poll() is not None:
                break
            self._signal(number)
            try:
                process.wait(patience_s)
            except subprocess.TimeoutExpired:
                continue
        self._signal(signal.SIGKILL)  # what it may have left behind

    def describe_end(self) -> str:
        """Return in words how it ended, with the last lines of its log."""
        if self._process is None:
            return f"{self.name} was never started"
        status = self._process.poll()
        if status is None:
            return f"{self.name} is running"
        if status < 0:
            end = f"was killed by {signal.Signals(-status).name}"
        else:
            end = f"exited with code {status}"
        return f"{self.name} {end}; its log {self.log_path} ends: {self._log_tail()}"

    def check(self) -> None:
        """Raise UserError when it has ended.

        Meant as `on_wait` of `HilLink.accept`: a program that cannot start is told at once.
        """
        if self._process is not None and self._process.poll() is not None:
            raise UserError(self.describe_end())

    def __enter__(self) -> "AutopilotProcess":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def _signal(self, number: signal.Signals) -> None:
        if self._process is not None:
            try:
                os.killpg(self._process.pid, number)
            except ProcessLookupError:
                return

    def _log_tail(self) -> str:
        try:
            with self.log_path.open("rb") as log:
                log.seek(max(self.log_path.stat().st_size - _LOG_TAIL_BYTES, 0))
                lines = log.read().decode("utf-8", "replace").splitlines()
        except OSError:
            return "(no log)"
        said = [line.strip() for line in lines if line.strip()]
        return " | ".join(said[-_LOG_TAIL_LINES:]) or "(empty)"


def embedded_process(
    instance: int,
    run_folder: Path,
    *,
    parameters_path: Path | None = None,
    cpu: int | None = None,
    command: Sequence[str] | None = None,
) -> AutopilotProcess:
    """Return the embedded autopilot, ready to start.

    Parameters
    ----------
    instance : int
        Its number; ports and system id follow from it.
    run_folder : Path
        Its log goes to `autopilot_<instance>.log` in here.
    parameters_path : Path, optional
        Its parameters file.
    cpu : int, optional
        The core it shares with the simulator.
    command : sequence of str, optional
        How to start it; default the program `embedded_autopilot` beside this Python or on PATH.
    """
    program = list(command) if command else [_beside_python(EMBEDDED_COMMAND)]
    arguments = ["--instance", str(instance)]
    if parameters_path is not None:
        arguments += ["--parameters", str(parameters_path)]
    return AutopilotProcess(
        [*program, *arguments],
        log_path=Path(run_folder) / f"autopilot_{instance}.log",
        cpu=cpu,
        name="embedded autopilot",
    )


def px4_process(
    px4_dir: Path,
    instance: int,
    run_folder: Path,
    *,
    home: GeodeticPoint,
    speed_factor: float = 1.0,
    gnss_delay_s: float = 0.0,
    parameters: Mapping[str, float] | None = None,
    model: str = PX4_MODEL,
    cpu: int | None = None,
) -> AutopilotProcess:
    """Return a PX4 SITL, ready to start.

    Parameters
    ----------
    px4_dir : Path
        A PX4-Autopilot folder in which `px4_sitl_default` was built.
    instance : int
        Number of the vehicle: PX4 connects to TCP 4560 + instance.
    run_folder : Path
        PX4 works, and logs, in `px4_<instance>` in here.
    home : GeodeticPoint
        Where the vehicle starts.
    speed_factor : float
        Expected real-time factor, 0 for as fast as possible; PX4 stretches some timeouts by it.
    gnss_delay_s : float
        Age of the simulated GNSS readings: EKF2_GPS_DELAY, which PX4 takes as 0.11 s otherwise.
    parameters : mapping, optional
        Further PX4 parameters by name, set before the modules start; see `rotor_parameters`.
    model : str
        Airframe; `none_<name>` waits for a simulator on the HIL link.
    cpu : int, optional
        The core it shares with the simulator: three times faster than spread over two.

    Raises
    ------
    UserError
        If PX4 was not built there.
    """
    build = _checked_build(Path(px4_dir))
    folder = (Path(run_folder) / f"px4_{instance}").resolve()
    environment = {
        "PX4_SIM_MODEL": model,
        "PX4_HOME_LAT": f"{home.latitude_deg:.9f}",
        "PX4_HOME_LON": f"{home.longitude_deg:.9f}",
        "PX4_HOME_ALT": f"{home.altitude_m:.3f}",
        "PX4_SIM_SPEED_FACTOR": f"{max(speed_factor, 1.0) if speed_factor else FASTEST:g}",
        "PX4_UXRCE_DDS_NS": f"px4_{instance}",
        "HEADLESS": "1",
    }
    chosen = {"EKF2_GPS_DELAY": 1000.0 * gnss_delay_s, **(parameters or {})}
    _write_parameters(folder / "px4-rc.params", chosen)
    environment["PATH"] = f"{folder}:{os.environ.get('PATH', '')}"
    return AutopilotProcess(
        [str(build / "bin" / "px4"), "-i", str(instance), "-d", str(build / "etc")],
        log_path=folder / "px4.log",
        cwd=folder,
        environment=environment,
        cpu=cpu,
        name=f"PX4 {instance}",
    )


def rotor_parameters(
    rotors: Sequence[tuple[Sequence[float], int]], torque_per_thrust_m: float
) -> dict[str, float]:
    """Return the PX4 parameters that describe these rotors to its control allocation.

    Parameters
    ----------
    rotors : sequence of ((3,) position, spin)
        Position in body axes FLU [m]; spin +1 when it turns counter-clockwise seen from above.
    torque_per_thrust_m : float
        Reaction torque per thrust [m].
    """
    values: dict[str, float] = {"CA_ROTOR_COUNT": len(rotors)}
    for i, ((x, y, _), spin) in enumerate(rotors):
        values[f"CA_ROTOR{i}_PX"] = x
        values[f"CA_ROTOR{i}_PY"] = -y
        values[f"CA_ROTOR{i}_KM"] = spin * torque_per_thrust_m
    return values


def _beside_python(program: str) -> str:
    """Return the program installed with this interpreter, or its bare name for PATH."""
    beside = Path(sys.executable).parent / program
    return str(beside) if beside.exists() else program


def _checked_build(px4_dir: Path) -> Path:
    build = px4_dir.expanduser().resolve() / PX4_BUILD
    for needed in (build / "bin" / "px4", build / "etc" / "init.d-posix" / "rcS"):
        if not needed.is_file():
            raise UserError(
                f"px4_dir: looked for {needed}, found nothing; give the folder of PX4-Autopilot "
                "and run 'make px4_sitl_default' in it"
            )
    return build


def _write_parameters(path: Path, parameters: Mapping[str, float]) -> None:
    """Write the start-up script that PX4 sources from PATH after the airframe's own values."""
    path.parent.mkdir(parents=True, exist_ok=True)
    for name in parameters:
        if not name.replace("_", "").isalnum() or len(name) > 16:
            raise UserError(f"PX4 parameter '{name}': expected a name of at most 16 letters, _")
    lines = [f"param set {name} {value:g}" for name, value in parameters.items()]
    path.write_text("#!/bin/sh\n" + "\n".join(lines) + "\n", encoding="utf-8")
