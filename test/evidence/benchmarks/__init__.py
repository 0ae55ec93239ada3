# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Speed, always as a ratio to a peer or a limit measured in the same run."""
