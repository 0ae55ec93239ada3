# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Parameters of nodes that are those of the simulator, declared there once."""

import dataclasses
from typing import Any, get_type_hints

from aerotwin_simulator.parameters import SimulatorParameters


def same_parameter(name: str, *, default: Any = dataclasses.MISSING) -> Any:
    """Declare a parameter or group as in `SimulatorParameters`, which may have another default.

    With the default None it is optional. The metadata has its name there as `same_as`.
    """
    cls: Any = SimulatorParameters
    *groups, last = name.split(".")
    for each in groups:
        cls = get_type_hints(cls)[each]
    field = cls.__dataclass_fields__[last]
    metadata = {**field.metadata, "same_as": name}
    if default is None and metadata["choices"]:
        metadata["choices"] = (None, *metadata["choices"])
    options: dict[str, Any] = {"default": default}
    if default is dataclasses.MISSING:
        options = {"default": field.default, "default_factory": field.default_factory}
    return dataclasses.field(metadata=metadata, kw_only=True, **options)
