# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Evaluates a SLAM on an arbitrary bag: roles of its topics, replay, topics to evaluate."""
