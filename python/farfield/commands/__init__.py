# SPDX-License-Identifier: Apache-2.0
"""Subcommands of `farfield`, one module each; listed in `farfield.cli`."""
