# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of driving and flying by hand."""

from dataclasses import dataclass

from aerotwin_core.errors import ParameterError
from aerotwin_core.parameters import parameter
from aerotwin_teleop.key_maps import KEY_MAPS, KeyMap

_OF_KEYS = "none: that of the keys"


@dataclass(frozen=True, kw_only=True)
class TeleopParameters:
    """Keys, joystick and vehicles; None stands for what the map of the keys has."""

    keys: str = parameter("twist", text="map of the keys", choices=tuple(KEY_MAPS))
    vehicles: tuple[str, ...] = parameter(
        (), text="namespaces, the leader first; none: all that are heard"
    )
    commands_all: bool = parameter(False, text="begin with all vehicles, not the leader alone")
    speed_step_m_s: float | None = parameter(
        None,
        text=f"speed of a press of a key, or its change of the speed; {_OF_KEYS}",
        unit="m/s",
        minimum=0.001,
        maximum=20.0,
    )
    turn_step_rad_s: float | None = parameter(
        None, text=f"the same of the turn; {_OF_KEYS}", unit="rad/s", minimum=0.001, maximum=5.0
    )
    max_speed_m_s: float | None = parameter(
        None, text=f"largest speed by keys; {_OF_KEYS}", unit="m/s", minimum=0.05, maximum=20.0
    )
    max_turn_rad_s: float | None = parameter(
        None, text=f"largest turn by keys; {_OF_KEYS}", unit="rad/s", minimum=0.05, maximum=5.0
    )
    release_s: float | None = parameter(
        None,
        text=f"without a repeat of the key for so long it stops, 0: never; {_OF_KEYS}",
        unit="s",
        minimum=0.0,
        maximum=10.0,
    )
    joy: bool = parameter(False, text="the topic `joy` flies, too")
    joy_axes: tuple[int, int, int, int] = parameter(
        (4, 3, 1, 0), text="axes of forward, left, up, turn (a gamepad's right and left stick)"
    )
    joy_dead_zone: float = parameter(
        0.1, text="an axis this near its centre asks for nothing", minimum=0.0, maximum=0.9
    )
    joy_speed_m_s: float = parameter(
        2.0, text="speed of a full axis", unit="m/s", minimum=0.05, maximum=20.0
    )
    joy_turn_rad_s: float = parameter(
        1.0, text="turn of a full axis", unit="rad/s", minimum=0.05, maximum=5.0
    )

    def __post_init__(self) -> None:
        if min(self.joy_axes) < 0:
            raise ParameterError(
                f"joy_axes: expected axes from 0, found {list(self.joy_axes)}; `ros2 topic echo "
                "joy` shows which axis moves"
            )

    @property
    def key_map(self) -> KeyMap:
        """The map of the keys."""
        return KEY_MAPS[self.keys]

    def of_keys(self, name: str) -> float:
        """Return a value that is set here, or else that of the map of the keys."""
        value = getattr(self, name)
        return float(getattr(self.key_map, name) if value is None else value)
