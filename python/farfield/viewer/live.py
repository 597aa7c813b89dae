# SPDX-License-Identifier: Apache-2.0
"""A simulation that runs while it is looked at: play, pause, step, reset; sliders for its controls, a spring that drags a body, contact forces and gaps."""

from __future__ import annotations

import contextlib
import math
import threading
import time
from collections.abc import Callable, Iterator

import numpy as np

import farfield as ff
from farfield.optional import needs
from farfield.viewer.recording import FORCES, record
from farfield.viewer.server import RATE, add_shape_switch, play
from farfield.viewer.stage import Stage, quiet_server

with needs("viewer"):
    import viser

SPRING = 2.0  # oscillations of a dragged body about its handle per second, damped so that there are none
SLIDER = (-1.0, 1.0)  # of a control whose range is not known
NEAREST = 5  # pairs whose gaps are listed


class Live:
    """One simulation on one server. `advance` moves it on; a user's buttons and sliders are followed there."""

    def __init__(
        self, server: viser.ViserServer, simulation: ff.Simulation, control: np.ndarray, *, up: str = "z"
    ) -> None:
        self.simulation, self.trouble = simulation, ""
        self._start, self._control = simulation.state, np.array(control, dtype=float)
        self._model, self._parameters = simulation.model, simulation.parameters
        self._masses = np.asarray(self._parameters.moments)[:, 0]
        self._behind = 0.0  # time that the pictures are ahead of the simulation [s]
        self.time = 0.0  #: since the last reset by the user [s]
        self._lock = threading.Lock()
        still = record(self._model, self._poses()[None], dt=simulation.dt, parameters=self._parameters)
        self._stage = Stage(server, still, up=up, switchable=True)
        self._drawables = still.drawables
        gravity = float(np.linalg.norm(self._parameters.gravity)) or 9.81
        self._newton = 0.25 * self._stage.size / max(float(self._masses.max()) * gravity, 1e-9)  # m of arrow per N
        self._build(server)
        self._show()

    def _build(self, server: viser.ViserServer) -> None:
        gui = server.gui
        gui.configure_theme(show_logo=False, show_share_button=False)
        gui.main_panel.dock_right()
        self.playing = gui.add_checkbox("play", False)
        gui.add_button("step").on_click(lambda _: self.step())
        gui.add_button("reset").on_click(lambda _: self.reset())
        self.speed = gui.add_dropdown("speed", ("0.1x", "0.25x", "0.5x", "1x", "2x"), initial_value="1x")
        self.status = gui.add_markdown("")
        self.forces = gui.add_checkbox(FORCES, True)
        gui.add_markdown(
            f"A force of {0.1 * self._stage.size / self._newton:.3g} N is {0.1 * self._stage.size:.2g} m long."
        )
        self.gaps = gui.add_markdown("")
        if not all(each.visual and each.collides for each in self._drawables):
            add_shape_switch(gui, self._stage, self._lock)
        with gui.add_folder("drag"):
            self.dragged = gui.add_dropdown("body", ("none", *self._free()), initial_value="none")
        self.handle = server.scene.add_transform_controls(
            "/handle", scale=0.25 * self._stage.size, disable_rotations=True, visible=False
        )
        self.dragged.on_update(lambda _: self._take_hold())
        self.sliders = []
        if len(self._control):
            with gui.add_folder("controls"):
                for k, value in enumerate(self._control):
                    low, high, name = self._slider(k, float(value))
                    self.sliders.append(gui.add_slider(name, low, high, (high - low) / 200.0, float(value)))

    def _free(self) -> list[str]:
        """Bodies that something can be done to."""
        return [name for k, name in enumerate(self._model.body_names) if k > 0 and self._masses[k] > 0.0]

    def _slider(self, index: int, value: float) -> tuple[float, float, str]:
        """Range and name of a control; controls of an actuator with several inputs have its name and a number."""
        actuators = self._model.scene.actuators
        if index >= len(actuators) or len(actuators) != len(self._control):
            return min(SLIDER[0], value), max(SLIDER[1], value), f"control {index}"
        actuator = actuators[index]
        limits = actuator.control_range
        low, high = (limits.lower, limits.upper) if limits is not None else SLIDER
        if not (math.isfinite(low) and math.isfinite(high) and low < high):
            low, high = SLIDER
        return min(low, value), max(high, value), actuator.name or f"control {index}"

    def advance(self, seconds: float) -> None:
        """So much wall time passes; a simulation that cannot keep up goes slower."""
        with self._lock:
            if not self.playing.value or self.trouble:
                return
            self._behind += seconds * float(self.speed.value.rstrip("x"))
            end = time.monotonic() + 1.0 / RATE
            while self._behind >= self.simulation.dt and not self.trouble:
                self._behind -= self.simulation.dt
                self._step()
                if time.monotonic() > end:
                    self._behind = 0.0
            self._show()

    def step(self) -> None:
        """One step, playing or not."""
        with self._lock:
            self._step()
            self._show()

    def reset(self) -> None:
        """Back to the start."""
        with self._lock:
            self.simulation.reset(self._start)
            self.trouble, self._behind, self.time = "", 0.0, 0.0
            self._show()

    def _step(self) -> None:
        if self.sliders:
            self._control = np.array([slider.value for slider in self.sliders])
        if self.dragged.value != "none":
            self._pull(self._model.body(self.dragged.value), np.asarray(self.handle.position, dtype=float))
        try:
            report = self.simulation.step(self._control)
        except ValueError as error:
            self.trouble = str(error)
            return
        if report.status != "converged":
            self.trouble = f"the step did not arrive: {report.status}"
        self.time += self.simulation.dt

    def _pull(self, body: int, target: np.ndarray) -> None:
        """The spring's impulse over the step to come, put into the velocities: v + M^-1 J^T f dt, without overshooting for any dt."""
        state, dt = self.simulation.state, self.simulation.dt
        q, v = np.asarray(state.q), np.asarray(state.v)
        jacobian = np.asarray(ff.body_jacobian(self._model, self._parameters, q, body))[:3]
        inverse = np.linalg.solve(np.asarray(ff.mass_matrix(self._model, self._parameters, q)), jacobian.T)
        compliance = jacobian @ inverse  # of the point: velocity by impulse
        rate = 2.0 * math.pi * SPRING
        wanted = rate**2 * dt * (target - self._poses()[body, :3]) - (2.0 * rate * dt) * (jacobian @ v)
        impulse = np.linalg.lstsq(compliance, wanted / (1.0 + rate * dt) ** 2, rcond=1e-9)[0]
        self.simulation.reset(ff.State(q=q, v=v + inverse @ impulse))

    def _take_hold(self) -> None:
        with self._lock:
            chosen = self.dragged.value
            self.handle.visible = chosen != "none"
            if chosen != "none":
                self.handle.position = self._poses()[self._model.body(chosen), :3]

    def _poses(self) -> np.ndarray:
        return np.asarray(ff.forward_kinematics(self._model, self._parameters, np.asarray(self.simulation.state.q)))

    def _show(self) -> None:
        contacts = self.simulation.contacts() if self.simulation.contact else []
        arrows = np.array(
            [[each.point, each.point + self._newton * each.force_on(each.a)] for each in contacts]
        ).reshape(-1, 2, 3)
        visible = np.linalg.norm(arrows[:, 1] - arrows[:, 0], axis=1) > 1e-3 * self._stage.size
        self._stage.place(self._poses(), {FORCES: arrows[visible]} if self.forces.value else {FORCES: arrows[:0]})
        names = self._model.body_names
        nearest = sorted(contacts, key=lambda each: each.gap)[:NEAREST]
        rows = [f"| {names[c.a]}, {names[c.b]} | {1e3 * c.gap:.3g} | {c.normal_force:.3g} |" for c in nearest]
        self.gaps.content = (
            "\n".join(["| nearest pairs | gap [mm] | force [N] |", "|---|---|---|", *rows]) if rows else ""
        )
        self.status.content = self.trouble or f"t = {self.time:.3f} s, step of {1e3 * self.simulation.dt:g} ms"


@contextlib.contextmanager
def open_live(
    simulation: ff.Simulation,
    control: np.ndarray,
    *,
    port: int = 8080,
    host: str = "127.0.0.1",
    title: str = "Farfield",
) -> Iterator[tuple[Live, str]]:
    """A live view that is being served and its address; advance it yourself. The server is gone after the block."""
    with quiet_server(host=host, port=port, label=title) as server:
        yield Live(server, simulation, control), f"http://{host}:{server.get_port()}"


def serve_live(
    simulation: ff.Simulation,
    control: np.ndarray,
    *,
    port: int = 8080,
    host: str = "127.0.0.1",
    title: str = "Farfield",
    announce: Callable[[str], None] | None = None,
) -> None:
    """Shows a simulation in the browser, and lets it run there, until interrupted with Ctrl-C."""
    with open_live(simulation, control, port=port, host=host, title=title) as (live, address):
        if announce is not None:
            announce(address)
        play(live.advance)
