# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Faults of one vehicle: who has which, and what those of rotors and battery do to its body."""

from collections import defaultdict
from collections.abc import Sequence

from aerotwin_core.errors import ParameterError
from aerotwin_core.foreign_text import printable
from aerotwin_faults import ActiveFault, Fault
from aerotwin_faults.fault import BATTERY, CAMERA, LIDAR, RADAR, ROTOR
from aerotwin_faults.rotors import RotorHealth
from aerotwin_faults.together import lost_cells, rotor_health
from aerotwin_multirotor_dynamics import (
    Airframe,
    Multirotor,
    RotorVibration,
    jam_rotor,
    set_lost_cells,
    set_rotor_health,
)

SOUND = RotorHealth()


class VehicleFaults:
    """The faults of one vehicle by their place; whoever applies them holds the list of a place.

    Those of rotors and battery need an airframe. `cameras` are the names of its cameras, `scanners`
    whether it has a "lidar" and a "radar", `unused` the places whose readings its autopilot does
    not fly on, as it makes its own: a fault there would show in the recording alone.
    """

    def __init__(
        self,
        airframe: Airframe | None = None,
        *,
        cameras: Sequence[str] = (),
        scanners: Sequence[str] = (),
        unused: Sequence[str] = (),
    ) -> None:
        self._unused = unused
        self._airframe, self._cameras, self._scanners = airframe, cameras, scanners
        self._by_place: defaultdict[str, list[ActiveFault]] = defaultdict(list)

    def of(self, place: str) -> list[ActiveFault]:
        """Return the list of a place, which stays the same object."""
        return self._by_place[place]

    def add(self, fault: ActiveFault) -> None:
        """Add a fault.

        Raises
        ------
        ParameterError
            If the vehicle has no such rotor or sensor, or not as many cells, or flies on another.
        """
        self.check(fault.name, fault.fault)
        self.of(fault.fault.place).append(fault)

    def remove(self, name: str) -> None:
        """End the faults of this name."""
        for faults in self._by_place.values():
            faults[:] = [fault for fault in faults if fault.name != name]

    def clear(self) -> None:
        """End all, as at a reset."""
        for faults in self._by_place.values():
            faults.clear()

    def check(self, name: str, fault: Fault) -> None:
        """Refuse a fault of what the vehicle does not have; errors as `add`."""
        if fault.place in self._unused:
            raise ParameterError(
                f"{name}: ArduPilot makes its own {', '.join(self._unused)}, so that a fault of "
                f"ours at place {fault.place} does not reach it; fly px4 or embedded, or set SIM_* "
                "in ardupilot.parameters"
            )
        self._check_sensor(name, fault)
        airframe = self._airframe
        if airframe is None:
            return
        n_rotors, battery = len(airframe.rotors), airframe.battery
        rotor, cells = getattr(fault, "rotor", 0), getattr(fault, "cells", 0)
        if rotor >= n_rotors:
            raise ParameterError(
                f"{name}: rotor: expected 0 to {n_rotors - 1} ({airframe.name}), found {rotor}"
            )
        if fault.place == BATTERY and battery.capacity_ah == 0.0:
            raise ParameterError(
                f"{name}: the airframe {airframe.name} has no battery model; give it one with "
                "capacity_ah"
            )
        if cells >= battery.cells:
            raise ParameterError(
                f"{name}: cells: expected fewer than {battery.cells} ({airframe.name}), found "
                f"{cells}"
            )

    def _check_sensor(self, name: str, fault: Fault) -> None:
        place, camera = fault.place, getattr(fault, "camera", "")
        if place == CAMERA and not self._cameras:
            raise ParameterError(
                f"{name}: the vehicle has no camera; give it camera.is_rendered or camera.file"
            )
        if place == CAMERA and camera not in ("", *self._cameras):
            raise ParameterError(
                f"{name}: camera: expected one of {', '.join(self._cameras)}, or nothing for all, "
                f"found {printable(camera, 60)}"
            )
        if place in (LIDAR, RADAR) and place not in self._scanners:
            raise ParameterError(f"{name}: the vehicle has no {place}; mount one by {place}.preset")


class BodyDamage:
    """Applies the faults of rotors and battery to a body, before each of its steps."""

    def __init__(
        self, faults: VehicleFaults, body: Multirotor, vibration: RotorVibration | None
    ) -> None:
        self._rotor_faults, self._battery_faults = faults.of(ROTOR), faults.of(BATTERY)
        self._body, self._vibration = body, vibration
        self._applied: dict[int, RotorHealth] = {}
        self._n_lost_cells = 0.0

    def apply(self, stamp_ns: int) -> None:
        """Set the condition of rotors and battery at an instant [ns]."""
        if self._rotor_faults or self._applied:
            self._apply_to_rotors(stamp_ns)
        if self._battery_faults or self._n_lost_cells:
            n_lost = lost_cells(self._battery_faults, stamp_ns)
            n_left = self._body.airframe.battery.cells - 1
            self._n_lost_cells = min(n_lost, float(n_left))
            set_lost_cells(self._body, self._n_lost_cells)

    def _apply_to_rotors(self, stamp_ns: int) -> None:
        found = rotor_health(self._rotor_faults, stamp_ns)
        for rotor in found.keys() | self._applied.keys():
            before, now = self._applied.get(rotor, SOUND), found.get(rotor, SOUND)
            if now == before:
                continue
            set_rotor_health(
                self._body, rotor, speed_share=now.speed_share, thrust_share=now.thrust_share
            )
            if self._vibration is not None:
                self._vibration.damage_rotor(rotor, now.imbalance_kg_m)
            if now.is_jammed and not before.is_jammed:
                jam_rotor(self._body, rotor)
        self._applied = found
