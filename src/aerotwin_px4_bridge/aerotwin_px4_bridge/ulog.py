# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""PX4's ULog files: topics as arrays, messages and parameters."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from aerotwin_core.errors import UserError
from aerotwin_core.limits import check_is_file
from aerotwin_core.ulog import open_ulog

_ANSI_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_MAGIC = b"ULog\x01\x12\x35"


@dataclass(frozen=True, kw_only=True)
class LogMessage:
    """A line that PX4 logged; time in its own clock, level as in syslog ("info", "error")."""

    time_us: int
    level: str
    text: str


@dataclass(frozen=True, kw_only=True)
class PX4Log:
    """Contents of a ULog file.

    `topics` maps the name of a uORB topic and a field to values: the first instance of each topic,
    with the names and units of PX4 (NED, FRD, `timestamp` in microseconds of its clock). Messages
    are in order, consecutive repetitions once; parameters are those at the start of the log;
    dropouts are gaps in the file.
    """

    path: Path
    topics: dict[str, dict[str, np.ndarray]]
    messages: tuple[LogMessage, ...]
    parameters: dict[str, float]
    n_dropouts: int


def read_ulog(path: str | Path, topics: Collection[str] | None = None) -> PX4Log:
    """Read a ULog file: those of the requested topics that it has, all for None.

    Raises UserError if the file does not exist, is no ULog file, or is damaged at its start.
    """
    path = Path(path)
    check_is_file(path)
    if not path.is_file():
        raise UserError(f"{path}: there is no such file; give the path of a ULog file (.ulg)")
    with path.open("rb") as file:
        start = file.read(len(_MAGIC))
    if start != _MAGIC:
        raise UserError(f"{path}: expected a ULog file (it begins with 'ULog'), found {start!r}")
    log = open_ulog(path, topics)
    return PX4Log(
        path=path,
        topics={d.name: dict(d.data) for d in reversed(log.data_list) if d.multi_id == 0},
        messages=tuple(_messages(log.logged_messages)),
        parameters={name: float(value) for name, value in log.initial_parameters.items()},
        n_dropouts=len(log.dropouts),
    )


def _messages(logged) -> list[LogMessage]:
    messages: list[LogMessage] = []
    for line in logged:
        text = _ANSI_COLOUR.sub("", line.message).replace("\t", " ").strip()
        if not messages or messages[-1].text != text:
            level = line.log_level_str().lower()
            messages.append(LogMessage(time_us=int(line.timestamp), level=level, text=text))
    return messages
