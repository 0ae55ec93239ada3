# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Checks of option combinations: an option that would be ignored is an error."""

import argparse

from aerotwin_core.errors import UserError

NO_REFERENCE = "-"
_OF_POSES = ("camera", "lidar", "mount", "range_m")
_OF_REFERENCE = (
    "surface", "reference_unit", "reference_bin_columns", "surface_unit", "align", "distance",
    "method", "thin_m", "scale", "initial", "origin", "reference_origin", "placed", "region",
    "cut_m", "poses", *_OF_POSES,
)  # fmt: skip


def has_reference(args: argparse.Namespace) -> bool:
    """Return whether the map is measured against a reference."""
    return not args.no_reference and args.reference != NO_REFERENCE


def check_options(args: argparse.Namespace) -> None:
    """Reject options that would have no effect.

    Raises `UserError`, naming the option, and what it needs.
    """
    if not has_reference(args):
        if args.reference not in (None, NO_REFERENCE):
            raise UserError(
                f"--no-reference judges {args.estimate} alone: leave out {args.reference}, or the "
                "option"
            )
        _refuse(args, _OF_REFERENCE, "needs a reference, and there is none")
        return
    if args.reference is None:
        raise UserError("give REFERENCE and ESTIMATE, or - instead of the reference")
    if args.surface is None:
        _refuse(args, ("surface_unit",), "is the unit of --surface: give that too")
    if args.align == "none":
        _refuse(
            args, ("method", "thin_m", "scale"), "has no effect with --align none: leave one out"
        )
    if args.poses is None:
        _refuse(args, _OF_POSES, "says what was seen from true poses: give --poses too")
    if args.camera is not None and args.lidar is not None:
        raise UserError("--camera and --lidar both say what was seen: give one")


def _refuse(args: argparse.Namespace, names: tuple[str, ...], why: str) -> None:
    for name in names:
        if getattr(args, name) not in (None, False, ""):
            raise UserError(f"--{name.replace('_', '-')} {why}")
