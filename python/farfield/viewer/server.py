# SPDX-License-Identifier: Apache-2.0
"""The interactive viewer: a recording in the browser with a timeline, toggles and the loss curve."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from farfield.optional import needs
from farfield.viewer.recording import Recording
from farfield.viewer.replay import HOLD
from farfield.viewer.stage import Stage, quiet_server

with needs("viewer"):
    import viser

RATE = 30.0  # frames sent per second at most
SPEEDS = ("0.1x", "0.25x", "0.5x", "1x", "2x", "4x")


class Player:
    """Timeline, play and pause, speed and toggles for one recording on one server."""

    def __init__(
        self,
        server: viser.ViserServer,
        recording: Recording,
        *,
        loss: Sequence[float] | None = None,
        up: str = "z",
        hidden: Sequence[str] = (),
    ) -> None:
        self._recording = recording
        self._stage = Stage(server, recording, up=up, hidden=hidden, switchable=True)
        self._lock = threading.Lock()
        self._time = 0.0
        self._shown = 0
        gui = server.gui
        gui.configure_theme(show_logo=False, show_share_button=False)
        gui.main_panel.dock_right()
        step = max(recording.dt, 1e-6)
        self._timeline = gui.add_slider("time [s]", 0.0, max(recording.duration, step), step, 0.0)
        self._playing = gui.add_checkbox("play", recording.num_frames > 1)
        self._speed = gui.add_dropdown("speed", SPEEDS, initial_value="1x")
        self._timeline.on_update(self._moved_by_user)
        for name in (*recording.arrows, *recording.trails):
            self._add_toggle(gui, name, shown=name not in hidden)
            if name in recording.legends:
                gui.add_markdown(recording.legends[name])
        if not all(each.visual and each.collides for each in recording.drawables):
            add_shape_switch(gui, self._stage, self._lock)
        if loss is not None and len(loss) > 1:
            _add_loss(gui, np.asarray(loss, dtype=float))

    @property
    def frame(self) -> int:
        """Index of the frame on show."""
        return self._shown

    def advance(self, seconds: float) -> None:
        """Let `seconds` of wall time pass."""
        with self._lock:
            if not self._playing.value or self._recording.num_frames < 2:
                return
            self._time += seconds * float(self._speed.value.rstrip("x"))
            if self._time > self._recording.duration + HOLD:
                self._time = 0.0
            self._show(min(self._time, self._recording.duration))
            self._timeline.value = self._shown * self._recording.dt

    def _show(self, moment: float) -> None:
        frame = min(round(moment / self._recording.dt), self._recording.num_frames - 1)
        if frame != self._shown:
            self._stage.show(frame)
            self._shown = frame

    def _moved_by_user(self, event: viser.GuiEvent) -> None:
        if event.client is None:
            return  # our own update of the slider
        with self._lock:
            self._time = float(self._timeline.value)
            self._playing.value = False
            self._show(self._time)

    def _add_toggle(self, gui: viser.GuiApi, name: str, *, shown: bool) -> None:
        toggle = gui.add_checkbox(name, shown)

        @toggle.on_update
        def _(_event: viser.GuiEvent) -> None:
            with self._lock:
                self._stage.set_visible(name, toggle.value)


def add_shape_switch(gui: viser.GuiApi, stage: Stage, lock: threading.Lock) -> None:
    """A choice between the shapes for the eye and those that collide."""
    switch = gui.add_dropdown("shapes", ("visual", "collision"), initial_value="visual")

    @switch.on_update
    def _(_event: viser.GuiEvent) -> None:
        with lock:
            stage.show_shapes(switch.value == "collision")


def _add_loss(gui: viser.GuiApi, loss: np.ndarray) -> None:
    """Loss over iterations; logarithmic when it is positive throughout and spans more than a decade."""
    finite = loss[np.isfinite(loss)]
    logarithmic = finite.size > 0 and finite.min() > 0 and finite.max() > 10 * finite.min()
    values = np.log10(np.where(loss > 0, loss, np.nan)) if logarithmic else loss
    label = "log10 loss" if logarithmic else "loss"
    gui.add_uplot(
        (np.arange(len(loss), dtype=float), values),
        (
            viser.uplot.Series(label="iteration"),
            viser.uplot.Series(label=label, stroke="#3474b7", width=2),
        ),
        title=label,
        axes=(viser.uplot.Axis(label="iteration"), viser.uplot.Axis(label=label)),
        scales={"x": viser.uplot.Scale(time=False), "y": viser.uplot.Scale()},
        aspect=1.6,
    )


@contextlib.contextmanager
def open_player(
    recording: Recording, *, port: int = 8080, host: str = "127.0.0.1", title: str = "Farfield", **options
) -> Iterator[tuple[Player, str]]:
    """A player that is being served and its address; advance it yourself. The server is gone after the block."""
    with quiet_server(host=host, port=port, label=title) as server:
        player = Player(server, recording, **options)
        yield player, f"http://{host}:{server.get_port()}"


def serve(
    recording: Recording,
    *,
    port: int = 8080,
    host: str = "127.0.0.1",
    loss: Sequence[float] | None = None,
    title: str = "Farfield",
    up: str = "z",
    hidden: Sequence[str] = (),
    announce: Callable[[str], None] | None = None,
) -> None:
    """Show a recording in the browser until interrupted with Ctrl-C.

    port: 0 takes any free one; a taken port moves on to the next. loss: one value per iteration, drawn as a curve.
    hidden: arrows and trails whose toggle is off at first. announce: called once with the address.
    """
    with open_player(recording, port=port, host=host, title=title, loss=loss, up=up, hidden=hidden) as (
        player,
        address,
    ):
        if announce is not None:
            announce(address)
        play(player.advance)


def play(advance: Callable[[float], None]) -> None:
    """Calls advance(seconds since the last call) at the rate of drawing until Ctrl-C."""
    with contextlib.suppress(KeyboardInterrupt):
        last = time.monotonic()
        while True:
            time.sleep(1.0 / RATE)
            now = time.monotonic()
            advance(now - last)
            last = now
