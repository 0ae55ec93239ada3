# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Copyright holders to credit for the tiles that are shown."""

from collections import Counter
from collections.abc import Iterable


def attributions(copyrights: Iterable[str]) -> tuple[str, ...]:
    """Return all names once, those of most tiles first.

    Parameters
    ----------
    copyrights : iterable of str
        asset.copyright of each tile that is shown, and of the tilesets; one may hold several names
        between semicolons. Google asks for this order (Map Tiles API, Photorealistic 3D Tiles,
        "Display attributions").

    Examples
    --------
    >>> attributions(["Airbus", "Google;Airbus", "Google; Airbus", ""])
    ('Airbus', 'Google')
    """
    names = Counter(name.strip() for text in copyrights for name in text.split(";") if name.strip())
    return tuple(sorted(names, key=lambda name: (-names[name], name)))
