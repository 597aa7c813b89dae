# SPDX-License-Identifier: Apache-2.0
"""A recording set up in a viser scene; shared by the self-contained replay and the interactive viewer."""

from __future__ import annotations

import contextlib
import io
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from farfield.optional import needs
from farfield.viewer.camera import (
    fit_camera,
    nice_length,
    plane_frame,
    rotation_matrices,
    scene_points,
    size_of,
    up_vector,
)
from farfield.viewer.recording import Drawable, HalfSpace, Recording

with needs("viewer"):
    import viser

TILE_COLORS = ((236, 238, 242), (214, 219, 227))
ARROW_COLORS = ((214, 69, 65), (52, 116, 183), (222, 148, 36), (112, 84, 160))
TRAIL_COLORS = ((60, 66, 82), (214, 69, 65), (52, 116, 183), (79, 148, 98))


class _WithoutServerChatter(io.TextIOBase):
    """Passes text on, except what viser prints about its server: standard output belongs to our caller.

    viser prints a banner from the thread that makes the server, whatever `verbose` says, and a "(viser)" line from
    the server's own thread when it ends; text of all other threads goes through.
    """

    def __init__(self, stream) -> None:
        self._stream = stream
        self._thread = threading.get_ident()

    def write(self, text: str) -> int:
        if threading.get_ident() != self._thread and "(viser)" not in text:
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        self._stream.flush()


@contextlib.contextmanager
def quiet_server(*, host: str = "127.0.0.1", port: int = 0, label: str | None = None) -> Iterator[viser.ViserServer]:
    """A viser server that prints nothing and is gone, port and threads included, when the block ends."""
    with contextlib.redirect_stdout(_WithoutServerChatter(sys.stdout)):
        server = viser.ViserServer(host=host, port=port, label=label, verbose=False)
    try:
        yield server
    finally:
        # The server thread prints once more while it ends.
        with contextlib.redirect_stdout(_WithoutServerChatter(sys.stdout)):
            server.stop()


class Stage:
    """Puts a recording's bodies, ground, arrows, trails and markers on a server, and moves them to any frame."""

    def __init__(
        self,
        server: viser.ViserServer,
        recording: Recording,
        *,
        up: str = "z",
        hidden: Sequence[str] = (),
        switchable: bool = False,
    ) -> None:
        """switchable: also has the shapes that collide, for `show_shapes`."""
        self._scene = server.scene
        self._recording = recording
        self._size = size_of(recording)
        # Single precision is plenty for a picture, and its zeroed low bits compress to half the file.
        self._poses = recording.poses.astype(np.float32).astype(float)
        self._hidden: set[str] = set(hidden)
        self._set_view(server, up)
        self._add_ground(up)
        self._meshes: list[tuple[Drawable, viser.MeshHandle]] = []
        self._bodies = self._add_bodies(switchable)
        self._moving = [int(body) for body in recording.moving_bodies() if int(body) in self._bodies]
        self._add_markers()
        self._trails = self._add_trails()
        self._arrows = {name: None for name in recording.arrows}
        self._points: dict[str, np.ndarray] = {}
        self.show(0)

    @property
    def size(self) -> float:
        """Of what there is to see [m]."""
        return self._size

    def show(self, frame: int) -> None:
        """Move everything to a frame; only what differs from the last frame shown is sent."""
        arrows = {name: frames[frame] for name, frames in self._recording.arrows.items()}
        self._place(self._moving, self._poses[frame], arrows)

    def place(self, poses: np.ndarray, arrows: Mapping[str, np.ndarray]) -> None:
        """Move all bodies to poses (bodies, 7) that need not be of the recording, with arrows (n, 2, 3) by name."""
        for name in arrows:
            self._arrows.setdefault(name, None)
        self._place(list(self._bodies), poses, arrows)

    def _place(self, bodies: Sequence[int], poses: np.ndarray, arrows: Mapping[str, np.ndarray]) -> None:
        for body in bodies:
            self._bodies[body].position = poses[body, :3]
            self._bodies[body].wxyz = poses[body, 3:]
        self._points = {name: np.asarray(points, dtype=np.float32).reshape(-1, 2, 3) for name, points in arrows.items()}
        for index, name in enumerate(self._arrows):
            self._show_arrows(index, name)

    def set_visible(self, name: str, visible: bool) -> None:
        """Show or hide the arrows or the trail of this name."""
        (self._hidden.discard if visible else self._hidden.add)(name)
        if name in self._trails:
            self._trails[name].visible = visible
        if name in self._arrows:
            self._show_arrows(list(self._arrows).index(name), name)

    def _show_arrows(self, index: int, name: str) -> None:
        points = self._points[name]
        handle = self._arrows[name]
        visible = len(points) > 0 and name not in self._hidden
        if visible and handle is None:
            radius = 0.006 * self._size
            self._arrows[name] = self._scene.add_arrows(
                f"/arrows/{name}",
                points,
                ARROW_COLORS[index % len(ARROW_COLORS)],
                shaft_radius=radius,
                head_radius=2.4 * radius,
                head_length=5.0 * radius,
            )
        elif visible:
            handle.points = points
            handle.visible = True
        elif handle is not None:
            handle.visible = False

    def _set_view(self, server: viser.ViserServer, up: str) -> None:
        camera = fit_camera(self._recording, up=up)
        self._scene.set_up_direction(f"+{up}")
        self._scene.configure_default_lights(cast_shadow=True)
        start = server.initial_camera
        start.position, start.look_at, start.up = camera.position, camera.look_at, camera.up
        start.fov = camera.fov
        start.near, start.far = 1e-3 * self._size, 1e3 * self._size
        length = 0.12 * self._size
        self._scene.add_frame("/axes", axes_length=length, axes_radius=0.05 * length, origin_radius=0.08 * length)

    def _add_ground(self, up: str) -> None:
        recording = self._recording
        for index, plane in enumerate(recording.half_spaces):
            self._add_checker(f"/ground/{index}", plane)
        if not recording.half_spaces:
            vertical = up_vector(up)
            points = scene_points(recording)
            low = (points @ vertical).min()
            centre = points.mean(axis=0)
            position = centre + vertical * (low - centre @ vertical)
            cell = nice_length(0.25 * self._size)
            self._scene.add_grid(
                "/ground/grid",
                width=10 * self._size,
                height=10 * self._size,
                plane={"x": "yz", "y": "xz", "z": "xy"}[up],
                cell_size=cell,
                section_size=5 * cell,
                cell_color=(222, 226, 232),
                section_color=(190, 197, 208),
                position=position,
            )

    def _add_checker(self, name: str, plane: HalfSpace) -> None:
        """Two meshes of alternate square tiles around the motion, aligned with the plane's own axes."""
        frame = plane_frame(plane.normal)
        origin = np.asarray(plane.normal) / np.linalg.norm(plane.normal) * plane.offset
        tile = nice_length(0.45 * self._size)
        pose = self._poses[0, plane.body]
        local = (scene_points(self._recording).mean(axis=0) - pose[:3]) @ rotation_matrices(pose[3:]) - origin
        middle = np.round((local @ frame)[:2] / tile)
        count = int(np.ceil(4.0 * self._size / tile))
        cells = np.stack(np.meshgrid(*2 * [np.arange(-count, count)], indexing="ij"), axis=-1).reshape(-1, 2) + middle
        square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]])
        for color in (0, 1):
            chosen = cells[(cells.sum(axis=1) % 2) == color]
            corners = ((chosen[:, None] + square) * tile).reshape(-1, 2)
            first = 4 * np.arange(len(chosen))[:, None, None]
            self._scene.add_mesh_simple(
                f"{name}/{('light', 'dark')[color]}",
                origin + corners @ frame[:, :2].T,
                (first + np.array([[0, 1, 2], [0, 2, 3]])).reshape(-1, 3),
                color=TILE_COLORS[color],
                cast_shadow=False,
                receive_shadow=0.25,
                side="double",
                position=pose[:3],
                wxyz=pose[3:],
            )

    def show_shapes(self, collision: bool) -> None:
        """Shows the shapes that collide, or those for the eye."""
        for drawable, mesh in self._meshes:
            mesh.visible = drawable.collides if collision else drawable.visual

    def _add_bodies(self, switchable: bool) -> dict[int, viser.FrameHandle]:
        bodies: dict[int, viser.FrameHandle] = {}
        for index, drawable in enumerate(self._recording.drawables):
            body = drawable.body
            name = f"/bodies/{body} {self._recording.names[body].replace('/', ' ')}"
            if body not in bodies:
                pose = self._poses[0, body]
                bodies[body] = self._scene.add_frame(name, show_axes=False, position=pose[:3], wxyz=pose[3:])
            if not (drawable.visual or switchable):
                continue
            *rgb, alpha = self._recording.color(drawable)
            mesh = self._scene.add_mesh_simple(
                f"{name}/{index}",
                drawable.vertices,
                drawable.triangles,
                color=tuple(round(255 * value) for value in rgb),
                opacity=alpha if alpha < 1 else None,
                flat_shading=True,
                side="double",
                visible=drawable.visual,
            )
            self._meshes.append((drawable, mesh))
        return bodies

    def _add_markers(self) -> None:
        for marker in self._recording.markers:
            *rgb, alpha = marker.rgba
            color = tuple(round(255 * value) for value in rgb)
            if marker.flat:
                self._scene.add_mesh_simple(
                    f"/markers/{marker.name}",
                    *marker.surface(),
                    color=color,
                    opacity=alpha,
                    position=marker.position,
                    side="double",
                    cast_shadow=False,
                )
                continue
            self._scene.add_icosphere(
                f"/markers/{marker.name}",
                marker.radius,
                color,
                opacity=alpha,
                position=marker.position,
                cast_shadow=False,
            )

    def _add_trails(self) -> dict[str, viser.LineSegmentsHandle]:
        trails = {}
        for index, (name, path) in enumerate(self._recording.trails.items()):
            if len(path) < 2:
                continue
            path = np.asarray(path, dtype=np.float32)[:: max(1, len(path) // 1000)]
            trails[name] = self._scene.add_line_segments(
                f"/trails/{name}",
                np.stack([path[:-1], path[1:]], axis=1),
                TRAIL_COLORS[index % len(TRAIL_COLORS)],
                thickness=2.0,
                thickness_units="screen",
                visible=name not in self._hidden,
            )
        return trails
