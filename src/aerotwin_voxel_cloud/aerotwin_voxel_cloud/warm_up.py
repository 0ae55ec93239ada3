# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Compile the kernels before they are needed."""

import importlib

KERNEL_MODULES = ("brick_kernels", "fill_kernels", "kernels", "mesh_kernels", "run_lengths")


def warm_up() -> None:
    """Import every file of kernels: they have eager signatures and compile into the cache."""
    for name in KERNEL_MODULES:
        importlib.import_module(f"aerotwin_voxel_cloud.{name}")
