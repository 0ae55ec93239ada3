# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Whether autopilot and simulator agree on the positions and directions of the rotors."""

from collections.abc import Mapping, Sequence

from aerotwin_doctor.check import Check, fail, ok, warn
from aerotwin_doctor.link_record import LinkRecord
from aerotwin_multirotor_dynamics import load_airframe
from aerotwin_px4_bridge import rotor_parameters

NAME = "geometry.rotors"
MAX_ROTORS = 12
"""CA_ROTOR0_… to CA_ROTOR11_… exist in PX4."""
TOLERANCE = 0.03
"""Share of the longest arm, and of the largest moment ratio: PX4 shows three digits."""


def rotor_names(n_rotors: int) -> list[str]:
    """Return the PX4 parameters of the positions of n rotors."""
    return [f"CA_ROTOR{i}_{what}" for i in range(n_rotors) for what in ("PX", "PY", "KM")]


def expected_parameters(airframe_name: str) -> dict[str, float]:
    """Return the PX4 parameters of an airframe (by name, or path of its YAML file)."""
    airframe = load_airframe(airframe_name)
    rotors = [(rotor.position_m, rotor.spin) for rotor in airframe.rotors]
    return rotor_parameters(rotors, airframe.propeller.torque_per_thrust_m)


def geometry_check(record: LinkRecord, expected: Mapping[str, float], airframe_name: str) -> Check:
    """Compare the CA_ROTOR* parameters of an autopilot with an airframe.

    A wrong sign makes the vehicle flip at take-off; other values only reduce precision, because PX4
    scales its allocation.
    """
    found = record.parameters
    is_any_configured = any(name.startswith("CA_ROTOR") for name in found)
    if "CA_ROTOR_COUNT" not in found and is_any_configured:
        return warn(NAME, "PX4 did not report CA_ROTOR_COUNT", "listen longer (--duration-s 20)")
    if "CA_ROTOR_COUNT" not in found and record.is_answered:
        return ok(NAME, "no CA_ROTOR parameters: the embedded autopilot has its airframe in a file")
    if "CA_ROTOR_COUNT" not in found:
        return warn(
            NAME, "the autopilot answers no parameter request", "listen longer (--duration-s 20)"
        )
    n_found, n_requested = int(found["CA_ROTOR_COUNT"]), int(expected["CA_ROTOR_COUNT"])
    if n_found != n_requested:
        return fail(
            NAME,
            f"PX4 flies {n_found} rotors, the airframe {airframe_name} has {n_requested}",
            "choose another PX4 airframe (px4_model), or give it rotor_parameters(…) at its start",
        )
    names = rotor_names(n_requested)
    lacking = [name for name in names if name not in found]
    if lacking:
        return warn(
            NAME, f"PX4 did not report {', '.join(lacking[:3])}", "listen longer (--duration-s 20)"
        )
    return _compare(found, expected, names, airframe_name)


def _compare(
    found: Mapping[str, float], expected: Mapping[str, float], names: Sequence[str], airframe: str
) -> Check:
    scale = {
        what: max(abs(expected[name]) for name in names if name.endswith(what))
        for what in ("PX", "PY", "KM")
    }

    def is_off(name: str) -> bool:
        return abs(found[name] - expected[name]) > TOLERANCE * scale[name[-2:]]

    def is_turned(name: str) -> bool:
        return is_off(name) and found[name] * expected[name] <= 0.0

    turned, off = list(filter(is_turned, names)), list(filter(is_off, names))
    stated = ", ".join(f"{n} {found[n]:g} (airframe {expected[n]:g})" for n in (turned or off)[:4])
    stated += f" and {len(turned or off) - 4} more" if len(turned or off) > 4 else ""
    way_out = f"start PX4 with rotor_parameters(…) of {airframe}, or give --airframe the right one"
    if turned:
        return fail(NAME, f"it will turn over at take-off, signs differ: {stated}", way_out)
    if off:
        return warn(NAME, f"it flies, less exactly: {stated}", way_out)
    return ok(NAME, f"the {len(names) // 3} rotors of {airframe} are where PX4 believes them")
