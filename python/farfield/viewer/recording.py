# SPDX-License-Identifier: Apache-2.0
"""A motion ready to be drawn by the replay, the server and the still pictures: plain arrays, made of a trajectory and what is drawn over it."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from farfield._core import ShapeType, current_hulls, load_trajectory
from farfield.marker import Marker
from farfield.output import write_arrays
from farfield.reading import blamed_on, read_arrays

FORMAT = 2
OVERLAYS = "overlays.npz"  # of a run directory
FORCES, FIELD = "contact forces", "long-range force field"  # names of arrows that runs of tasks record
DEFAULT_GREYS = ((0.7, 0.7, 0.7), (0.5, 0.5, 0.5))  # what our scenes and MJCF give when no colour was chosen
PALETTE = (
    (0.298, 0.471, 0.659),
    (0.945, 0.569, 0.220),
    (0.357, 0.659, 0.451),
    (0.847, 0.369, 0.376),
    (0.443, 0.698, 0.690),
    (0.898, 0.761, 0.310),
    (0.627, 0.486, 0.690),
    (0.918, 0.616, 0.651),
    (0.616, 0.494, 0.408),
)


@dataclass(frozen=True)
class Drawable:
    """A triangle mesh that moves with a body: vertices [m] (n, 3) in the body frame, triangles (m, 3), colour rgba.

    visual, collides: whether it is part of what a body looks like, and of what it collides with.
    """

    body: int
    vertices: np.ndarray
    triangles: np.ndarray
    rgba: tuple[float, float, float, float] = (0.7, 0.7, 0.7, 1.0)
    visual: bool = True
    collides: bool = True


@dataclass(frozen=True)
class HalfSpace:
    """The solid region normal . x <= offset of a body's frame [m], drawn as a checkered plane."""

    body: int
    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    offset: float = 0.0


@dataclass(frozen=True)
class Recording:
    """A motion of rigid bodies at a fixed frame time.

    dt: time between frames [s]. poses: (frames, bodies, 7), position [m] and unit quaternion w, x, y, z.
    names: one per body; body 0 is usually the world. arrows: name -> one (n, 2, 3) array of start and end points [m]
    per frame, for instance contact forces. trails: name -> (frames, 3) path [m], for instance a centre of mass. legends: name of arrows -> what their
    length means.
    """

    dt: float
    poses: np.ndarray
    names: Sequence[str]
    drawables: Sequence[Drawable] = ()
    half_spaces: Sequence[HalfSpace] = ()
    arrows: Mapping[str, Sequence[np.ndarray]] = field(default_factory=dict)
    trails: Mapping[str, np.ndarray] = field(default_factory=dict)
    markers: Sequence[Marker] = ()
    legends: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        poses = np.ascontiguousarray(self.poses, dtype=float)
        object.__setattr__(self, "poses", poses)
        if not (math.isfinite(self.dt) and self.dt > 0):
            raise ValueError(f"recording: dt is {self.dt}, expected > 0 s")
        if poses.ndim != 3 or poses.shape[2] != 7 or poses.shape[0] < 1:
            raise ValueError(f"recording: poses have shape {poses.shape}, expected (frames >= 1, bodies, 7)")
        if not np.isfinite(poses).all():
            frame, body = np.argwhere(~np.isfinite(poses).all(axis=2))[0]
            raise ValueError(f"recording: pose of body {body} at frame {frame} is not finite")
        if len(self.names) != self.num_bodies:
            raise ValueError(f"recording: {len(self.names)} names for {self.num_bodies} bodies")
        for index, drawable in enumerate(self.drawables):
            self._check_drawable(index, drawable)
        for index, plane in enumerate(self.half_spaces):
            if not 0 <= plane.body < self.num_bodies:
                raise ValueError(f"recording: half-space {index} is on body {plane.body} of {self.num_bodies}")
        for name, frames in self.arrows.items():
            if len(frames) != self.num_frames:
                raise ValueError(f"recording: arrows '{name}' have {len(frames)} frames, expected {self.num_frames}")
        for name, path in self.trails.items():
            if np.shape(path) != (self.num_frames, 3):
                raise ValueError(f"recording: trail '{name}' has shape {np.shape(path)}, expected (frames, 3)")

    def _check_drawable(self, index: int, drawable: Drawable) -> None:
        vertices, triangles = np.asarray(drawable.vertices), np.asarray(drawable.triangles)
        if not 0 <= drawable.body < self.num_bodies:
            raise ValueError(f"recording: drawable {index} is on body {drawable.body} of {self.num_bodies}")
        if vertices.ndim != 2 or vertices.shape[1] != 3 or triangles.ndim != 2 or triangles.shape[1] != 3:
            raise ValueError(
                f"recording: drawable {index} has vertices {vertices.shape} and triangles {triangles.shape}, "
                "expected (n, 3) and (m, 3)"
            )
        if triangles.size and not (0 <= triangles.min() and triangles.max() < len(vertices)):
            raise ValueError(f"recording: drawable {index} has a triangle outside its {len(vertices)} vertices")

    @property
    def num_frames(self) -> int:
        return self.poses.shape[0]

    @property
    def num_bodies(self) -> int:
        return self.poses.shape[1]

    @property
    def duration(self) -> float:
        """Time from the first to the last frame [s]."""
        return self.dt * (self.num_frames - 1)

    def moving_bodies(self) -> np.ndarray:
        """Indices of the bodies whose pose changes at all."""
        return np.flatnonzero((self.poses != self.poses[:1]).any(axis=(0, 2)))

    def color(self, drawable: Drawable) -> tuple[float, float, float, float]:
        """The scene's colour, or one of a palette by body where the scene left the default grey."""
        r, g, b, alpha = (float(value) for value in drawable.rgba)
        if drawable.body == 0 or not any(np.allclose((r, g, b), grey, atol=1e-6) for grey in DEFAULT_GREYS):
            return r, g, b, alpha
        return *PALETTE[(drawable.body - 1) % len(PALETTE)], alpha


def record(model, poses, *, dt: float, parameters=None, **extras) -> Recording:
    """Recording of a model's motion. A motion that became non-finite is cut before the first such frame.

    model: offers body_names, drawables() and half_spaces(). poses: (frames, bodies, 7). parameters: when their hull vertices differ from the
    model's, the hulls are drawn in place of the shapes as described. extras: arrows, trails, markers, legends.
    """
    poses = np.asarray(poses, dtype=float)
    bad = np.flatnonzero(~np.isfinite(poses).all(axis=(1, 2)))
    end = int(bad[0]) if bad.size else len(poses)
    for kind in ("arrows", "trails"):
        if kind in extras:
            extras[kind] = {name: value[:end] for name, value in extras[kind].items()}
    return Recording(
        dt=dt,
        poses=poses[:end],
        names=list(model.body_names),
        drawables=_drawables(model, parameters),
        half_spaces=[
            HalfSpace(int(body), tuple(float(value) for value in normal), float(offset))
            for body, normal, offset in model.half_spaces()
        ],
        **extras,
    )


def _drawables(model, parameters) -> list[Drawable]:
    reshaped = {}
    if parameters is not None and not np.array_equal(
        parameters.hull_vertices, model.default_parameters().hull_vertices
    ):
        vertices = np.asarray(parameters.hull_vertices)
        hulls = iter(current_hulls(model, parameters))
        shapes = model.scene.shapes
        reshaped = {k: (vertices[hull.rows], hull.triangles) for k, hull in zip(_colliding(shapes), hulls, strict=True)}
    scene = getattr(model, "scene", None)
    drawn = [k for k, shape in enumerate(scene.shapes) if shape.type != ShapeType.HalfSpace] if scene else []
    looks = {
        scene.shapes[k].body for k in drawn if not scene.shapes[k].collides
    }  # bodies with shapes for the eye alone
    out = []
    for k, item in enumerate(model.drawables()):
        points, triangles = reshaped.get(drawn[k] if drawn else k, (item.vertices, item.triangles))
        color = tuple(float(value) for value in item.color)
        collides = scene.shapes[drawn[k]].collides if drawn else True
        visual = not collides or int(item.body) not in looks
        mesh = np.array(points, dtype=float), np.array(triangles, dtype=int)
        out.append(Drawable(int(item.body), *mesh, color, visual, collides))
    return out


def _colliding(shapes) -> list[int]:
    return [k for k, shape in enumerate(shapes) if shape.collides and shape.type != ShapeType.HalfSpace]


def save_overlays(path: Path, recording: Recording) -> None:
    """Write what a recording has besides the motion (arrows, trails, markers) as a data-only .npz, complete or not at all."""
    arrays = {}
    for index, frames in enumerate(recording.arrows.values()):
        frames = [np.asarray(points, dtype=float).reshape(-1, 2, 3) for points in frames]
        arrays[f"arrow_counts_{index}"] = np.array([len(points) for points in frames])
        arrays[f"arrow_points_{index}"] = np.concatenate(frames)
    for index, points in enumerate(recording.trails.values()):
        arrays[f"trail_{index}"] = np.asarray(points, dtype=float)
    header = {
        "format": FORMAT,
        "arrows": list(recording.arrows),
        "trails": list(recording.trails),
        "legends": dict(recording.legends),
        "markers": [dataclasses.asdict(marker) for marker in recording.markers],
    }
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    write_arrays(Path(path), arrays)


def load_overlays(path: Path) -> dict[str, Any]:
    """Read what `save_overlays` wrote, as extras of `record`; a foreign or truncated file is a ValueError that names it."""
    arrays = read_arrays(path)
    with blamed_on(path, "not readable overlays"):
        header = json.loads(arrays["header"].tobytes())
        if header["format"] != FORMAT:
            raise ValueError(f"format {header['format']}, expected {FORMAT}")
        return _overlays(header, arrays)


def _overlays(header: dict, arrays: Mapping[str, np.ndarray]) -> dict[str, Any]:
    def arrows(index: int) -> list[np.ndarray]:
        ends = np.cumsum(arrays[f"arrow_counts_{index}"])
        return np.split(arrays[f"arrow_points_{index}"], ends[:-1])

    return {
        "arrows": {name: arrows(index) for index, name in enumerate(header["arrows"])},
        "legends": header.get("legends", {}),
        "trails": {name: arrays[f"trail_{index}"] for index, name in enumerate(header["trails"])},
        "markers": [
            Marker(item["name"], tuple(item["position"]), item["radius"], tuple(item["rgba"]), item["flat"])
            for item in header["markers"]
        ],
    }


def load_recording(trajectory: Path, overlays: Path) -> Recording:
    """The recording of a trajectory's file, with overlays where that file exists."""
    motion = load_trajectory(trajectory)
    extras = load_overlays(overlays) if Path(overlays).is_file() else {}
    return record(motion.model, motion.poses(), dt=motion.dt, parameters=motion.parameters, **extras)


def beside(first: Recording, second: Recording, names: tuple[str, str] = ("first", "second")) -> Recording:
    """Two motions as one, the second moved sideways (along y) until it is clear of the first; the shorter one stays at its last frame."""
    dt = min(first.dt, second.dt)
    count = 1 + round(max(first.duration, second.duration) / dt)
    frames = [
        np.minimum(np.round(np.arange(count) * dt / each.dt).astype(int), each.num_frames - 1)
        for each in (first, second)
    ]
    shift = np.array([0.0, _reach(first, 1)[1] - _reach(second, 1)[0], 0.0])
    moved = second.poses[frames[1]] + np.concatenate([shift, np.zeros(4)])
    bodies = first.num_bodies
    later = [dataclasses.replace(each, body=each.body + bodies) for each in second.drawables]
    planes = [dataclasses.replace(each, body=each.body + bodies) for each in second.half_spaces]
    level = {(each.normal, each.offset) for each in first.half_spaces if each.normal == (0.0, 0.0, 1.0)}
    label = lambda name, which: f"{name}, {names[which]}"  # noqa: E731
    arrows = {label(k, 0): [v[f] for f in frames[0]] for k, v in first.arrows.items()}
    arrows |= {label(k, 1): [np.reshape(v[f], (-1, 2, 3)) + shift for f in frames[1]] for k, v in second.arrows.items()}
    trails = {label(k, 0): np.asarray(v)[frames[0]] for k, v in first.trails.items()}
    trails |= {label(k, 1): np.asarray(v)[frames[1]] + shift for k, v in second.trails.items()}
    marks = [dataclasses.replace(m, name=label(m.name, 0)) for m in first.markers]
    marks += [
        dataclasses.replace(m, name=label(m.name, 1), position=tuple(np.asarray(m.position) + shift))
        for m in second.markers
    ]
    return Recording(
        dt=dt,
        poses=np.concatenate([first.poses[frames[0]], moved], axis=1),
        names=[label(name, which) for which, each in enumerate((first, second)) for name in each.names],
        drawables=[*first.drawables, *later],
        half_spaces=[*first.half_spaces, *(each for each in planes if (each.normal, each.offset) not in level)],
        arrows=arrows,
        trails=trails,
        markers=marks,
        legends={label(k, 0): v for k, v in first.legends.items()}
        | {label(k, 1): v for k, v in second.legends.items()},
    )


def _reach(recording: Recording, axis: int) -> tuple[float, float]:
    """From where to where a motion goes along an axis, with a margin [m]."""
    radius = max(
        (float(np.linalg.norm(d.vertices, axis=1).max()) for d in recording.drawables if len(d.vertices)), default=0.1
    )
    places = recording.poses[:, 1:, axis] if recording.num_bodies > 1 else recording.poses[:, :, axis]
    return float(places.min()) - 1.2 * radius, float(places.max()) + 1.2 * radius
