# SPDX-License-Identifier: Apache-2.0
"""Differentiable physics for contact-rich robotics."""

from farfield._core import __version__

__all__ = ["__version__"]
