# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Filters of requests, checked and compiled before any entity is looked at."""

import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
from simulation_interfaces.msg import Bounds, EntityCategory, TagsFilter

from aerotwin_simulation_interfaces.areas import (
    MAX_HULL_POINTS,
    overlaps_box,
    overlaps_hull,
    overlaps_sphere,
)
from aerotwin_simulation_interfaces.posix_regex import PatternError, PosixRegex
from aerotwin_simulation_interfaces.ros.answers import (
    FAILED,
    UNSUPPORTED,
    RequestRefused,
    shown,
)

CATEGORIES = tuple(
    getattr(EntityCategory, name)
    for name in (
        "CATEGORY_OBJECT",
        "CATEGORY_ROBOT",
        "CATEGORY_HUMAN",
        "CATEGORY_DYNAMIC_OBJECT",
        "CATEGORY_STATIC_OBJECT",
    )
)


class EntityFilter:
    """The filters of one request. Raises RequestRefused if one of them is wrong."""

    def __init__(self, filters: Any) -> None:
        try:
            self._pattern = PosixRegex(filters.filter) if filters.filter else None
        except PatternError as error:
            raise RequestRefused(FAILED, f"filter: {shown(str(error))}") from None
        self._categories = {category.category for category in filters.categories}
        if unknown := self._categories - set(CATEGORIES):
            raise RequestRefused(
                FAILED, f"categories must be of {CATEGORIES}, got {sorted(unknown)}"
            )
        self._has_tags = tags_filter(filters.tags)
        self._overlaps = bounds_filter(filters.bounds)

    def passes(self, name: str, category: int, tags: Iterable[str], box: np.ndarray) -> bool:
        """Return whether an entity passes all filters; its box is (2, 3) in map."""
        if self._categories and category not in self._categories:
            return False
        if self._pattern is not None and not self._pattern.search(name):
            return False
        return self._has_tags(tags) and self._overlaps(box)


def tags_filter(tags: Any) -> Callable[[Iterable[str]], bool]:
    """Return the test of a TagsFilter. Raises RequestRefused for an unknown mode."""
    modes = (TagsFilter.FILTER_MODE_ANY, TagsFilter.FILTER_MODE_ALL)
    if tags.filter_mode not in modes:
        raise RequestRefused(FAILED, f"filter_mode must be one of {modes}, got {tags.filter_mode}")
    required = set(tags.tags)
    if not required:
        return lambda _: True
    if tags.filter_mode == TagsFilter.FILTER_MODE_ALL:
        return lambda own: required <= set(own)
    return lambda own: bool(required & set(own))


def bounds_filter(bounds: Any) -> Callable[[np.ndarray], bool]:
    """Return the test of Bounds. Raises RequestRefused for wrong or unknown ones."""
    kind = bounds.type
    if kind == Bounds.TYPE_EMPTY:
        return lambda _: True
    if kind not in (Bounds.TYPE_BOX, Bounds.TYPE_CONVEX_HULL, Bounds.TYPE_SPHERE):
        raise RequestRefused(UNSUPPORTED, f"bounds must be of type 0 to 3, got {kind}")
    n = len(bounds.points)
    if n > MAX_HULL_POINTS or (n < 3 if kind == Bounds.TYPE_CONVEX_HULL else n != 2):
        expected = f"3 to {MAX_HULL_POINTS}" if kind == Bounds.TYPE_CONVEX_HULL else "2"
        raise RequestRefused(FAILED, f"bounds of this type must have {expected} points, got {n}")
    points = np.array([(p.x, p.y, p.z) for p in bounds.points])
    if not np.isfinite(points).all():
        raise RequestRefused(FAILED, "bounds must be finite, got NaN or infinity in their points")
    if kind == Bounds.TYPE_SPHERE:
        radius_m = float(points[1, 0])
        if not 0.0 <= radius_m < math.inf:
            raise RequestRefused(FAILED, f"the radius must not be negative, got {radius_m:g}")
        return lambda box: overlaps_sphere(box, points[0], radius_m)
    if kind == Bounds.TYPE_BOX:
        return lambda box: overlaps_box(box, points)
    return lambda box: overlaps_hull(box, points)
