# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The dataflash logs (.BIN) that ArduPilot wrote in a flight: collected and read.

References: ArduPilot libraries/AP_NavEKF3/LogStructure.h (XKF4: innovations over their gates),
libraries/AP_Logger/LogStructure.h (MSG, RCOU, MAVC), ArduCopter/Log.cpp.
"""

import os
import re
import shutil
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from pymavlink import DFReader

from aerotwin_ardupilot_bridge.process import PWM_FULL_US, PWM_OFF_US
from aerotwin_core.errors import UserError
from aerotwin_core.foreign_text import printable
from aerotwin_core.limits import check_is_file
from aerotwin_px4_bridge.commanders import Commander, outside_commanders
from aerotwin_px4_bridge.dialects import ARDUPILOT

RATIOS = {
    "velocity": "SV",
    "position": "SP",
    "height": "SH",
    "magnetic field": "SM",
}
"""Fields of XKF4 by what they test; 1 is the gate beyond which EKF3 refuses a reading."""
_MAGIC = b"\xa3\x95"
_CHANNELS = range(1, 15)
_VERSION = re.compile(r"Ardu\w+ V\d")
_READ = ("MSG", "MODE", "POS", "XKF4", "RCOU", "MAVC", "PARM")


@dataclass(frozen=True, kw_only=True)
class ArduPilotLog:
    """Contents of a dataflash log; times are those of ArduPilot's clock, the simulated time.

    Attributes
    ----------
    messages : tuple of (time [s], text)
        What it said, and its changes of mode.
    stamps_ns, geodetic : (n,), (n, 3) array
        Its estimate: latitude, longitude [deg], altitude [m] above mean sea level.
    ratios : dict of (n,), (n,) array
        Times [s] and innovations over their gates, of the primary filter, by the names of `RATIOS`.
    outputs : (n,), (channels, n) array
        Times [s] and commands of the motors in [0, 1].
    commands : tuple of (system id, component id, MAV_CMD, time [s])
        Commands over MAVLink.
    parameters : frozenset of str
        Names of all its parameters; empty if the log has none.
    """

    path: Path
    messages: tuple[tuple[float, str], ...]
    stamps_ns: np.ndarray
    geodetic: np.ndarray
    ratios: dict[str, tuple[np.ndarray, np.ndarray]]
    outputs: tuple[np.ndarray, np.ndarray]
    commands: tuple[tuple[int, int, int, float], ...]
    parameters: frozenset[str]

    @property
    def version(self) -> str:
        """What it calls itself, as "ArduCopter V4.7.0-dev (2598e9d4)"; empty if it does not say."""
        said = (text for _, text in self.messages if _VERSION.match(text))
        return next(said, "")


def read_dataflash(path: str | Path) -> ArduPilotLog:
    """Read a dataflash log.

    Raises UserError if the file does not exist, is none, or holds nothing that can be read.
    """
    path = Path(path)
    check_is_file(path)
    if not path.is_file():
        raise UserError(f"{path}: there is no such file; give the path of a dataflash log (.bin)")
    with path.open("rb") as file:
        start = file.read(len(_MAGIC))
    if start != _MAGIC:
        raise UserError(f"{path}: expected a dataflash log (it begins with a3 95), found {start!r}")
    try:
        return _contents(path, _records(path))
    except Exception as error:  # pymavlink raises bare ones at damaged files
        raise UserError(f"{path}: the dataflash log cannot be read ({error!r})") from None


def _contents(path: Path, found: Mapping[str, list[dict[str, Any]]]) -> ArduPilotLog:
    primary = [one for one in found["XKF4"] if one["C"] == one["PI"]]
    times_s = _column(primary, "TimeUS") * 1e-6
    channels = [_column(found["RCOU"], f"C{k}") for k in _CHANNELS]
    outputs = [pulses for pulses in channels if pulses.any()]  # those that drive something
    return ArduPilotLog(
        path=path,
        messages=tuple(_messages(found)),
        stamps_ns=np.round(_column(found["POS"], "TimeUS") * 1e3).astype(np.int64),
        geodetic=np.column_stack([_column(found["POS"], name) for name in ("Lat", "Lng", "Alt")]),
        ratios={
            name: (times_s, _column(primary, field)) for name, field in RATIOS.items() if primary
        },
        outputs=(
            _column(found["RCOU"], "TimeUS") * 1e-6,
            (np.array(outputs) - PWM_OFF_US) / (PWM_FULL_US - PWM_OFF_US),
        ),
        commands=tuple(
            (int(one["SS"]), int(one["SC"]), int(one["Cmd"]), one["TimeUS"] * 1e-6)
            for one in found["MAVC"]
        ),
        parameters=frozenset(printable(str(one["Name"])) for one in found["PARM"]),
    )


def commanders_in_dataflash(logs: Sequence[ArduPilotLog], instance: int) -> list[Commander]:
    """Return the senders of commands, without the clients of the scenario."""
    commands = [command for log in logs for command in log.commands]
    return outside_commanders(commands, instance)


def unknown_parameters(logs: Sequence[ArduPilotLog], names: Iterable[str]) -> list[str]:
    """Return the names that are no parameters of the ArduPilot that wrote the logs.

    It passes over names that it does not know in the file of its defaults. None without a list.
    """
    known = frozenset[str]().union(*(log.parameters for log in logs))
    return [name for name in names if name not in known] if known else []


def _records(path: Path) -> defaultdict[str, list[dict[str, Any]]]:
    """Return the fields of the messages that are read, by their type, in order."""
    found: defaultdict[str, list[dict[str, Any]]] = defaultdict(list)
    with (
        Path(os.devnull).open("w", encoding="utf-8") as nowhere,  # it prints what it finds odd
        redirect_stdout(nowhere),
        redirect_stderr(nowhere),
        _Reader(path) as log,
    ):
        while (message := log.recv_match(type=list(_READ))) is not None:
            fields = message.to_dict()
            if isinstance(fields.get("TimeUS"), int):
                found[message.get_type()].append(fields)
    return found


class _Reader(DFReader.DFReader_binary):  # type: ignore[misc]  # pymavlink has no types
    """A reader that closes its file even when it cannot make sense of it."""

    def __init__(self, path: Path) -> None:
        try:
            super().__init__(str(path))
        except BaseException:
            self.filehandle.close()
            raise


def _column(records: Sequence[dict[str, Any]], name: str) -> np.ndarray:
    return np.array([record[name] for record in records], dtype=np.float64)


def _messages(found: Mapping[str, list[dict[str, Any]]]) -> list[tuple[float, str]]:
    said = [(one["TimeUS"] * 1e-6, printable(str(one["Message"]))) for one in found["MSG"]]
    modes = [
        (one["TimeUS"] * 1e-6, f"mode {ARDUPILOT.mode_name(int(one['ModeNum']))}")
        for one in found["MODE"]
    ]
    return sorted(said + modes, key=lambda entry: entry[0])


def collect_logs(run_folder: Path, instance: int) -> list[Path]:
    """Copy the dataflash logs of an ArduPilot that has ended beside the other files of the run.

    The copies are `ardupilot_<instance>.bin`, `ardupilot_<instance>_2.bin` and so on, in the order
    of their start, in the `run_folder` of `ardupilot_process`; none when it wrote none.
    """
    logs = (Path(run_folder) / f"ardupilot_{instance}" / "logs").glob("*.BIN")
    found = sorted(path for path in logs if path.stat().st_size > 0)
    targets = [log_path(run_folder, instance, number) for number in range(len(found))]
    for source, target in zip(found, targets, strict=True):
        unfinished = target.with_suffix(".bin.part")
        shutil.copyfile(source, unfinished)
        os.replace(unfinished, target)
    return targets


def log_path(run_folder: Path, instance: int, number: int = 0) -> Path:
    """Return the target of `collect_logs` for log `number` (from 0) of a vehicle."""
    suffix = f"_{number + 1}" if number else ""
    return Path(run_folder) / f"ardupilot_{instance}{suffix}.bin"
