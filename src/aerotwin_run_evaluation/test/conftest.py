# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
from support.launch_prefix import prefix_of

__all__ = ["prefix_of"]
