# SPDX-License-Identifier: Apache-2.0
"""The command line, called as a function."""

from farfield import cli


def exit_code(*arguments):
    """What `farfield ARGUMENTS...` exits with."""
    try:
        return cli.main([str(argument) for argument in arguments])
    except SystemExit as stop:
        return stop.code
