# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Metadata of this component: the files that COMPONENT_METADATA points at.

MAVLink developer guide, "Component Metadata Protocol": a general file, and the parameters with
their texts and ranges, both from the one declaration in `TunableParameters`.
"""

import dataclasses
import json
import zlib

from aerotwin_autopilot.parameters import TunableParameters
from aerotwin_autopilot.settings import INTEGERS, PX4_NAMES

FOLDER = "/etc/extras"
GENERAL, PARAMETERS = f"{FOLDER}/component_general.json", f"{FOLDER}/parameters.json"
TYPE_PARAMETERS = 1
"""COMP_METADATA_TYPE_PARAMETER."""


def metadata_files() -> dict[str, bytes]:
    """Return path -> content of the metadata files."""
    fields = {field.name: field for field in dataclasses.fields(TunableParameters)}
    parameters = []
    for name, attribute in sorted(PX4_NAMES.items()):
        field = fields[attribute]
        entry = {
            "name": name,
            "type": "Int32" if name in INTEGERS else "Float",
            "group": "Flight",
            "default": field.default,
            "shortDesc": field.metadata["text"],
            "units": field.metadata["unit"],
            "min": field.metadata["minimum"],
            "max": field.metadata["maximum"],
        }
        parameters.append({key: value for key, value in entry.items() if value not in (None, "")})
    content = json.dumps({"version": 1, "parameters": parameters}).encode()
    general = {
        "version": 1,
        "metadataTypes": [
            {"type": TYPE_PARAMETERS, "uri": uri(PARAMETERS), "fileCrc": zlib.crc32(content)}
        ],
    }
    return {GENERAL: json.dumps(general).encode(), PARAMETERS: content}


def uri(path: str) -> str:
    """Return the address of a file of this component in MAVLink FTP."""
    return f"mftp:/{path}"
