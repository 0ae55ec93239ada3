# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Judge a SLAM on somebody else's bag: what its topics are, what is played, what is judged."""
