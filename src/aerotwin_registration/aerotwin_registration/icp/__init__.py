# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""The ICP family: one entry `align`, one `Registration`, and a diagnosis that detects failures.

`protocol` and `result` are input and output; `alignment` is the loop, `steps` one step of each
method, `surface` a cloud with its tree and normals; `evidence`, `rivals` and `diagnosis` decide
whether the result is reliable.
"""

from aerotwin_registration.icp.alignment import align
from aerotwin_registration.icp.protocol import ICP_PRESETS, IcpProtocol
from aerotwin_registration.icp.result import Registration
from aerotwin_registration.icp.surface import AlignmentTarget

__all__ = [
    "ICP_PRESETS",
    "AlignmentTarget",
    "IcpProtocol",
    "Registration",
    "align",
]
