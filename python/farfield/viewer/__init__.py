# SPDX-License-Identifier: Apache-2.0
"""Looking at motions: self-contained replays, an interactive viewer and still pictures.

Everything here works on a `Recording`, plain arrays that know nothing of the engine. Submodules are imported by name
(`farfield.viewer.replay` and so on), so that importing this package stays cheap.
"""

from farfield.marker import Marker
from farfield.viewer.recording import (
    Drawable,
    HalfSpace,
    Recording,
    load_overlays,
    load_recording,
    record,
    save_overlays,
)

__all__ = ["Drawable", "HalfSpace", "Marker", "Recording", "load_overlays", "load_recording", "record", "save_overlays"]
