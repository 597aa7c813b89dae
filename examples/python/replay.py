# SPDX-License-Identifier: Apache-2.0
"""A motion as one self-contained HTML page: python examples/python/replay.py [FILE.html]"""

import sys
from pathlib import Path

import numpy as np

import farfield as ff
from farfield.viewer import record
from farfield.viewer.replay import write_replay

page = Path(sys.argv[1] if len(sys.argv) > 1 else "replay.html")
model, parameters = ff.load(Path(__file__).parents[2] / "scenes" / "ant.xml")
controls = np.tile(model.default_control(), (100, 1))
motion = ff.rollout(model, parameters, model.default_state(), controls, dt=0.01)
write_replay(page, record(model, motion.poses(), dt=motion.dt))
print(f"{page}: {page.stat().st_size / 1e6:.1f} MB, open it in a browser")
