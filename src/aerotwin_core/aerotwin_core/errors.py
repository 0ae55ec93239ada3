# SPDX-FileCopyrightText: 2026 aerotwin contributors
# SPDX-License-Identifier: Apache-2.0
"""Errors that a person reads: one line that names what, where, expected, found and the way out."""

EXIT_FAILURE = 1
EXIT_PARAMETER = 78
"""EX_CONFIG of sysexits.h."""


class UserError(Exception):
    """Something outside the program is wrong and the user can fix it.

    Commands print the message as one line and exit with 2; nodes log it as fatal.
    """


class ParameterError(UserError):
    """A parameter is unknown, missing, of the wrong type or out of range.

    Nodes exit with 78 (EX_CONFIG of sysexits.h).
    """


def exit_code_of(error: Exception) -> int:
    """Return the exit code of a node that ends by an error."""
    return EXIT_PARAMETER if isinstance(error, ParameterError) else EXIT_FAILURE
