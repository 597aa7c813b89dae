# SPDX-License-Identifier: Apache-2.0
"""The one error of the importers."""


class SceneFileError(ValueError):
    """A robot file cannot be imported; the text names the file, the elements and what was expected."""
