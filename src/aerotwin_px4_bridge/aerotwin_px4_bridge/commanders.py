# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Outside clients that commanded a vehicle: the records of autopilots, and the text of a report.

Any process of this machine can send MAVLink. The embedded autopilot writes a line into its log for
each kind of command of each client but the scenario's own; PX4's ULog has commands and the ids of
their senders, not their addresses, nor set-points, plans and parameters.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from pymavlink.dialects.v20 import common

from aerotwin_core.errors import UserError
from aerotwin_px4_bridge.onboard import is_of_scenario
from aerotwin_px4_bridge.process import embedded_log
from aerotwin_px4_bridge.ulog import read_ulog

_LINE = re.compile(
    r"^commanded by system (\d+) component (\d+) from (\S+): (.+) at (\d+\.\d+) s$", re.MULTILINE
)
_UNKNOWN = "an unknown address"
_NAMED = 3  # number of commands that a text names; the rest is counted


@dataclass(frozen=True, kw_only=True)
class Commander:
    """The first command of one kind from one client.

    The ids are those that the client claims, the address is its host:port, unknown with PX4. The
    order is a MAV_CMD without its prefix, or the name of the message; its time is simulated time.
    """

    system_id: int
    component_id: int
    address: str
    order: str
    time_s: float

    @property
    def client(self) -> str:
        """Ids and address, as text."""
        return f"system {self.system_id} component {self.component_id} from {self.address}"

    def line(self) -> str:
        """Return the line in an autopilot's log."""
        return f"commanded by {self.client}: {self.order} at {self.time_s:.3f} s"


def command_name(number: int) -> str:
    """Return the name of a MAV_CMD without its prefix.

    >>> command_name(400)
    'COMPONENT_ARM_DISARM'
    """
    entry = common.enums["MAV_CMD"].get(number)
    return entry.name.removeprefix("MAV_CMD_") if entry is not None else f"command {number}"


def commanders_in_log(path: Path) -> list[Commander]:
    """Return the clients in an embedded autopilot's log; none where there is no log."""
    if not path.is_file():
        return []
    return [
        Commander(
            system_id=int(system),
            component_id=int(component),
            address=address,
            order=order,
            time_s=float(time),
        )
        for system, component, address, order, time in _LINE.findall(
            path.read_text(encoding="utf-8", errors="replace")
        )
    ]


def commanders_in_ulogs(paths: Sequence[Path], instance: int) -> list[Commander]:
    """Return the senders of commands in PX4's logs, without PX4 itself and the scenario's client.

    Raises UserError if a log is damaged at its start.
    """
    orders: list[tuple[int, int, int, float]] = []
    for path in paths:
        commands = read_ulog(path, ["vehicle_command"]).topics.get("vehicle_command")
        if commands is None:
            continue
        columns = ("source_system", "source_component", "command", "timestamp", "from_external")
        for row in zip(*(commands[name].tolist() for name in columns), strict=True):
            system, component, number, time_us, is_external = row
            if is_external:
                orders.append((system, component, number, time_us * 1e-6))
    return outside_commanders(orders, instance)


def outside_commanders(
    orders: Iterable[tuple[int, int, int, float]], instance: int
) -> list[Commander]:
    """Return the senders of orders (system id, component id, MAV_CMD, time [s]).

    The clients of the scenario are left out; of several orders of one kind the first counts.
    """
    found: dict[tuple[int, int, int], float] = {}
    for system, component, number, time_s in orders:
        if not is_of_scenario(system, component, instance):
            key = system, component, number
            found[key] = min(found.get(key, time_s), time_s)
    return [
        Commander(
            system_id=system,
            component_id=component,
            address=_UNKNOWN,
            order=command_name(number),
            time_s=time_s,
        )
        for (system, component, number), time_s in sorted(found.items(), key=lambda at: at[1])
    ]


def find_commanders(run_folder: Path, instance: int, controller: str) -> list[Commander]:
    """Return the outside clients of a vehicle whose autopilot has ended.

    The `controller` is `embedded` or `px4`; the result is empty for any other. Raises UserError if
    a log cannot be read.
    """
    if controller == "embedded":
        return commanders_in_log(embedded_log(run_folder, instance))
    if controller != "px4":
        return []
    logs = sorted((run_folder / f"px4_{instance}" / "log").glob("**/*.ulg"))
    try:
        return commanders_in_ulogs([path for path in logs if path.stat().st_size], instance)
    except UserError as error:
        raise UserError(
            f"{error}; whether an outside client commanded the vehicle is not known"
        ) from error


def outside_commands(commanders: Sequence[Commander]) -> list[str]:
    """Return one text per client: its first commands, and their times."""
    by_client: dict[str, list[Commander]] = {}
    for commander in commanders:
        by_client.setdefault(commander.client, []).append(commander)
    texts = []
    for client, orders in by_client.items():
        named = ", ".join(f"{o.order} at {o.time_s:.1f} s" for o in orders[:_NAMED])
        rest = f" and {len(orders) - _NAMED} kinds more" if len(orders) > _NAMED else ""
        texts.append(f"an outside client commanded the vehicle: {client}: {named}{rest}")
    return texts
