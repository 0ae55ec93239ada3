# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Diagnosis of this installation or this link, as text: the command `aerotwin doctor`.

Every diagnosis is a pure function from findings (files, ports, messages) to `Check`s;
`link_watch` and `ros/` are the parts that listen.
"""

from aerotwin_doctor.check import Check, fail, ok, warn

__all__ = ["Check", "fail", "ok", "warn"]
