# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Where real data lies, for campaigns that read it."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from aerotwin_core.errors import UserError

DATA = "AEROTWIN_SHARED_DATA"


def data_folder(document: Mapping[str, Any]) -> Path:
    """Return the folder that the document of a run names as `data`; raises `UserError`."""
    if not (root := os.environ.get(DATA)):
        raise UserError(f"{DATA}: is not set; it names the folder with {document['data']}")
    return Path(root) / document["data"]
