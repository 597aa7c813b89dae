# SPDX-License-Identifier: Apache-2.0
"""The T-push scene in MuJoCo, and the motions of its finger."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable

import numpy as np

from farfield.tasks.t_push import BAR, CELL, FEET, FINGER_FRICTION, HEIGHT, KD, KP, MASS, RADIUS, TABLE_FRICTION

MOVING, HELD = 4.6, 0.4  # [s]
DURATION = MOVING + HELD
FOOT = 1e-3  # radius of a foot of the tripod [m]


def targets(via: np.ndarray, dt: float) -> np.ndarray:
    """Places of the finger's drive at the start of every step, shape (steps, 2): a clamped spline, then held."""
    from scipy.interpolate import CubicSpline

    via = np.asarray(via)
    spline = CubicSpline(np.linspace(0.0, MOVING, len(via)), via, bc_type="clamped")
    times = dt * np.arange(round(DURATION / dt))
    return spline(np.minimum(times, MOVING))


def xml(*, tripod: bool = False, dt: float = 2e-3) -> str:
    """Two boxes (or three feet under them), a table, and a ball on two slides."""
    cells = MASS / 8
    bar = f'<geom name="bar" type="box" size="{2.5 * CELL} {HEIGHT} {HEIGHT}" pos="0 {BAR} 0" mass="{5 * cells}"'
    stem = f'<geom name="stem" type="box" size="{HEIGHT} {1.5 * CELL} {HEIGHT}" pos="0 {BAR - 2 * CELL} 0" mass="{3 * cells}"'
    feet = "".join(
        f'<geom type="sphere" size="{FOOT}" pos="{x} {y} {FOOT - HEIGHT}" mass="1e-9" contype="2" conaffinity="2"'
        f' friction="{TABLE_FRICTION} 0 0"/>'
        for x, y in FEET
    )
    # finger and T meet in group 1; the table meets boxes (group 4) or feet (group 2)
    boxes = 'contype="1" conaffinity="1"' if tripod else 'contype="5" conaffinity="5"'
    table = 2 if tripod else 4
    return f"""<mujoco>
      <option timestep="{dt}" cone="elliptic" gravity="0 0 -9.81"/>
      <worldbody>
        <geom name="table" type="plane" size="2 2 .1" friction="{TABLE_FRICTION} 0.005 0.0001" contype="{table}" conaffinity="{table}"/>
        <body name="t" pos="0 0 {HEIGHT}"><freejoint/>
          {bar} friction="{TABLE_FRICTION} 0.005 0.0001" {boxes}/>
          {stem} friction="{TABLE_FRICTION} 0.005 0.0001" {boxes}/>
          {feet if tripod else ""}
        </body>
        <body name="finger" pos="0 0 {HEIGHT}">
          <joint name="x" type="slide" axis="1 0 0"/><joint name="y" type="slide" axis="0 1 0"/>
          <geom name="finger" type="sphere" size="{RADIUS}" mass="{MASS}" friction="{FINGER_FRICTION} 0.005 0.0001"
                contype="1" conaffinity="1"/>
        </body>
      </worldbody>
      <actuator>
        <position joint="x" kp="{KP}" kv="{KD}"/><position joint="y" kp="{KP}" kv="{KD}"/>
      </actuator>
    </mujoco>"""


class MujocoPush:
    """Rolls motions out from the finger's start, T at rest."""

    def __init__(self, *, tripod: bool = False, dt: float = 2e-3, integrator: str = "Euler") -> None:
        import mujoco

        self._mujoco, self.dt = mujoco, dt
        self.model = mujoco.MjModel.from_xml_string(xml(tripod=tripod, dt=dt))
        self.model.opt.integrator = getattr(mujoco.mjtIntegrator, f"mjINT_{integrator.upper()}")
        self.data = mujoco.MjData(self.model)

    def run(self, controls: np.ndarray) -> tuple[np.ndarray, int]:
        """(x, y, yaw) of the T after every step, and how often finger and T came apart."""
        mujoco, model, data = self._mujoco, self.model, self.data
        mujoco.mj_resetData(model, data)
        data.qpos[7:9] = controls[0]
        finger = model.geom("finger").id
        poses, touching, breaks = np.empty((len(controls), 3)), False, 0
        for k, control in enumerate(controls):
            data.ctrl[:] = control
            mujoco.mj_step(model, data)
            w, x, y, z = data.qpos[3:7]
            poses[k] = [*data.qpos[:2], np.arctan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z))]
            touches = bool(np.any(data.contact.geom == finger))
            breaks += touching and not touches
            touching = touches
        return poses, breaks

    def steps(self, controls: np.ndarray) -> Callable[[], object]:
        """The same motion without a look at the states between: what MuJoCo's steps cost."""
        from mujoco import rollout

        mujoco, model, data = self._mujoco, self.model, self.data
        mujoco.mj_resetData(model, data)
        data.qpos[7:9] = controls[0]
        start = np.empty(mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS))
        mujoco.mj_getState(model, data, start, mujoco.mjtState.mjSTATE_FULLPHYSICS)
        return lambda: rollout.rollout(model, data, start, controls)

    def mjx_steps(self, controls: np.ndarray) -> Callable[[], object] | None:
        """The same by MJX, compiled (about a minute); None where it is not installed."""
        try:
            import jax

            with contextlib.redirect_stdout(sys.stderr):  # it prints what else it would like to have
                from mujoco import mjx
        except ImportError:
            return None
        self._mujoco.mj_resetData(self.model, self.data)
        self.data.qpos[7:9] = controls[0]
        model, start = mjx.put_model(self.model), mjx.put_data(self.model, self.data)

        @jax.jit
        def run(start, controls):
            return jax.lax.scan(lambda data, row: (mjx.step(model, data.replace(ctrl=row)), None), start, controls)[0]

        rows = jax.numpy.asarray(controls)
        return lambda: run(start, rows).qpos.block_until_ready()
