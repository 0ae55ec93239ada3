# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Where what can be made again is kept for a user."""

import os
from pathlib import Path


def user_cache_folder(kind: str) -> Path:
    """Return aerotwin's folder of a kind below the user's cache folder; it need not exist.

    A relative `XDG_CACHE_HOME` is ignored, as the XDG Base Directory Specification asks for.
    """
    base = os.environ.get("XDG_CACHE_HOME", "")
    return (Path(base) if base.startswith("/") else Path.home() / ".cache") / "aerotwin" / kind
