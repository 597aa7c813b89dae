# SPDX-License-Identifier: Apache-2.0
"""Runs of tasks: names, run directories, the runner, comparisons and pictures."""
