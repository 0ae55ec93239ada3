# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
import os

import pytest

from support.campaigns import FOLDER


@pytest.fixture(autouse=True, scope="session")
def _stubs_for_children():
    """Let child processes import the functions of runs."""
    path = os.pathsep.join(filter(None, (str(FOLDER), os.environ.get("PYTHONPATH", ""))))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", path)
        yield
