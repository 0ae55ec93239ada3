# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Generated worlds: places made from a seed, the same bytes for the same seed on any machine load.

`GENERATORS` holds, by name, the class of the parameters of a place and the function that builds
its meshes. Ground is an open sheet, buildings are closed solids, sun and shade are painted in.
"""

from aerotwin_worlds.generated.cliff import CliffParameters, build_cliff
from aerotwin_worlds.generated.stadium import StadiumParameters, build_stadium

GENERATORS = {
    "cliff": (CliffParameters, build_cliff),
    "stadium": (StadiumParameters, build_stadium),
}

__all__ = ["GENERATORS"]
