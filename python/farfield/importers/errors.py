# SPDX-License-Identifier: Apache-2.0
"""The one error of the importers."""

from farfield.reading import BadFile


class SceneFileError(BadFile):
    """A robot file cannot be imported; the text names the file, the elements and what was expected."""
