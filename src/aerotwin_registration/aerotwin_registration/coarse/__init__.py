# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Coarse alignment: any yaw, a large offset, no manual start, and rejection of ambiguous poses."""

from aerotwin_registration.coarse.alignment import coarse_align
from aerotwin_registration.coarse.protocol import CoarseProtocol
from aerotwin_registration.coarse.verdict import CoarseRegistration

__all__ = ["CoarseProtocol", "CoarseRegistration", "coarse_align"]
