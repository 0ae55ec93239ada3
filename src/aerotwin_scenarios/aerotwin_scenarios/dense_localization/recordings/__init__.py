# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Stereo pictures with poses, of bags and KITTI folders, and the map that is made of them."""
