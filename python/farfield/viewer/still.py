# SPDX-License-Identifier: Apache-2.0
"""Still pictures of a recording without a browser: several moments in one image, earlier ones fainter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from farfield.optional import needs
from farfield.output import atomic_path
from farfield.viewer.camera import (
    Camera,
    fit_camera,
    nice_length,
    plane_frame,
    rotation_matrices,
    scene_points,
    size_of,
    up_vector,
)
from farfield.viewer.raster import Canvas, shade
from farfield.viewer.recording import HalfSpace, Recording

SUPERSAMPLE = 2
ELEVATION = math.radians(22.0)
BACKGROUND = np.array([0.985, 0.988, 0.993])
TILES = np.array([[0.925, 0.933, 0.949], [0.878, 0.890, 0.914]], dtype=np.float32)
BAND = 64  # rows treated at a time, which bounds the memory
SHADOW = 0.80
FAINTEST = 0.22
TRAIL_RGB = np.array([0.22, 0.25, 0.33])
ARROW_RGB = np.array([0.84, 0.27, 0.25])
OCTAHEDRON = np.array([[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]])


def render_png(
    recording: Recording,
    path: Path,
    *,
    frames: Sequence[int] | None = None,
    size: tuple[int, int] = (1200, 750),
    up: str = "z",
    elevation: float = ELEVATION,
) -> None:
    """Write a picture of the recording at some frames (four evenly spread ones when None), the last one solid.

    size: width and height [pixels]. elevation: how far the camera looks down [rad]. Trails and markers are drawn; arrows are those of the last frame. The camera sees
    everything drawn at these frames. The file appears under its name only when it is complete.
    """
    with needs("viewer"):
        from PIL import Image
    image = render(recording, frames=frames, size=size, up=up, elevation=elevation)
    with atomic_path(Path(path)) as temporary:
        Image.fromarray(image).save(temporary, format="PNG", optimize=True)


def render(
    recording: Recording,
    *,
    frames: Sequence[int] | None = None,
    size: tuple[int, int] = (1200, 750),
    up: str = "z",
    elevation: float = ELEVATION,
    camera: Camera | None = None,
) -> np.ndarray:
    """The picture of `render_png` as an array (height, width, 3) of bytes. camera: in place of one that fits."""
    width, height = size
    if width < 16 or height < 16:
        raise ValueError(f"picture size is {width} x {height}, expected at least 16 x 16 pixels")
    chosen = _check_frames(recording, frames)
    if camera is None:
        camera = fit_camera(recording, up=up, aspect=width / height, frames=chosen, elevation=elevation)
    scale = SUPERSAMPLE
    light = _light(camera, up_vector(up))
    layers = _layers(recording, chosen, camera, (width * scale, height * scale), light)
    picture, ground_depth = _ground(recording, chosen, camera, (width * scale, height * scale), light, up)
    picture = _composite(picture, ground_depth, layers)
    small = picture.reshape(height, scale, width, scale, 3).mean(axis=(1, 3))
    return (np.clip(small, 0.0, 1.0) * 255 + 0.5).astype(np.uint8)


def _check_frames(recording: Recording, frames: Sequence[int] | None) -> np.ndarray:
    if frames is None:
        count = 4 if recording.num_frames > 1 else 1
        return np.unique(np.linspace(0, recording.num_frames - 1, count).round().astype(int))
    chosen = np.asarray(frames, dtype=int)
    if chosen.size == 0:
        raise ValueError("frames is empty, expected at least one frame to draw")
    for frame in chosen:
        if not -recording.num_frames <= frame < recording.num_frames:
            raise ValueError(f"frame {frame} does not exist, the recording has {recording.num_frames}")
    return np.unique(chosen % recording.num_frames)


def _light(camera: Camera, vertical: np.ndarray) -> np.ndarray:
    """Unit vector towards a lamp high above the viewer's left shoulder."""
    right, _, forward = camera.axes()
    flat = forward - vertical * (forward @ vertical)
    light = 2.2 * vertical - 0.9 * right - 0.7 * flat / max(np.linalg.norm(flat), 1e-9)
    return light / np.linalg.norm(light)


def _triangles(recording: Recording, frame: int, moving: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """World triangles (n, 3, 3), colours (n, 3) and opacities (n,) of the bodies that do, or do not, ever move."""
    movers = set(recording.moving_bodies().tolist())
    corners, colors, alphas = [np.zeros((0, 3, 3))], [np.zeros((0, 3))], [np.zeros(0)]
    for drawable in recording.drawables:
        if (drawable.body in movers) != moving or not drawable.visual:
            continue
        pose = recording.poses[frame, drawable.body]
        world = np.asarray(drawable.vertices) @ rotation_matrices(pose[3:]).T + pose[:3]
        triangles = world[np.asarray(drawable.triangles, dtype=int)]
        *rgb, alpha = recording.color(drawable)
        corners.append(triangles)
        colors.append(np.tile(rgb, (len(triangles), 1)))
        alphas.append(np.full(len(triangles), alpha))
    return np.concatenate(corners), np.concatenate(colors), np.concatenate(alphas)


def _layers(recording, frames, camera, size, light) -> list[tuple[np.ndarray, np.ndarray, float]]:
    """Depth, colour and opacity of each layer: what stands still, trails and arrows, each moment, each marker."""
    layers = []

    def add(triangles: np.ndarray, rgb: np.ndarray, alpha: float, shaded: bool = True) -> None:
        if len(triangles) and alpha > 0:
            canvas = Canvas(camera, *size)
            canvas.draw(triangles, shade(triangles, rgb, light=light, camera=camera) if shaded else rgb)
            layers.append((canvas.depth, (255 * canvas.color).astype(np.uint8), alpha))  # bytes: there are many layers

    def add_bodies(frame: int, moving: bool, strength: float) -> None:
        triangles, colors, alphas = _triangles(recording, frame, moving)
        for alpha in np.unique(alphas):  # a see-through body is its own layer
            part = alphas == alpha
            add(triangles[part], colors[part], float(alpha) * strength)

    add_bodies(int(frames[-1]), False, 1.0)
    for index, frame in enumerate(frames):
        strength = 1.0 if index == len(frames) - 1 else FAINTEST + 0.45 * index / max(1, len(frames) - 1)
        add_bodies(int(frame), True, strength)
    width = 0.0022 * float(np.linalg.norm(camera.look_at - camera.position))
    tubes = [_tube(np.asarray(path)[int(frames[0]) : int(frames[-1]) + 1], width) for path in recording.trails.values()]
    if tubes:
        tubes = np.concatenate(tubes)
        add(tubes, np.tile(TRAIL_RGB, (len(tubes), 1)), 0.9, shaded=False)
    arrows = [np.reshape(per_frame[int(frames[-1])], (-1, 2, 3)) for per_frame in recording.arrows.values()]
    arrows = [_arrow(start, end, 2.0 * width) for group in arrows for start, end in group]
    if arrows:
        arrows = np.concatenate(arrows)
        add(arrows, np.tile(ARROW_RGB, (len(arrows), 1)), 1.0)
    for marker in recording.markers:
        if marker.flat:
            vertices, faces = marker.surface()
            triangles = (vertices + marker.position)[faces]
        else:
            triangles = _ball(np.asarray(marker.position), marker.radius)
        add(triangles, np.tile(marker.rgba[:3], (len(triangles), 1)), marker.rgba[3], shaded=not marker.flat)
    return layers


def _composite(picture: np.ndarray, ground_depth: np.ndarray, layers) -> np.ndarray:
    """Lay the layers over the ground, farthest first in every pixel; what lies behind the ground is hidden."""
    height = picture.shape[0]
    for top in range(0, height if layers else 0, BAND):
        rows = slice(top, top + BAND)
        depth = np.stack([layer[0][rows] for layer in layers])
        color = np.stack([layer[1][rows] for layer in layers])
        alpha = np.array([layer[2] for layer in layers], dtype=np.float32)[:, None, None]
        alpha = np.where((depth <= ground_depth[rows]) & np.isfinite(depth), alpha, np.float32(0))
        if not alpha.any():
            continue
        order = np.argsort(-depth, axis=0, kind="stable")
        band = picture[rows]
        for layer in order:
            strength = np.take_along_axis(alpha, layer[None], axis=0)[0][..., None]
            over = np.take_along_axis(color, layer[None, ..., None], axis=0)[0].astype(np.float32) / 255
            band = band * (1 - strength) + over * strength
        picture[rows] = band
    return picture


def _ground(recording, frames, camera, size, light, up) -> tuple[np.ndarray, np.ndarray]:
    """Background picture with every half-space as a checkered plane with shadows, and its depth [m]."""
    width, height = size
    picture = np.tile(BACKGROUND.astype(np.float32), (height, width, 1))
    depth = np.full((height, width), np.inf, dtype=np.float32)
    canvas = Canvas(camera, width, height)
    rays = canvas.rays()
    for plane in recording.half_spaces:
        _draw_plane(recording, plane, frames, canvas, rays, light, picture, depth)
    return picture, depth


def _draw_plane(recording, plane: HalfSpace, frames, canvas, rays, light, picture, depth) -> None:
    camera = canvas.camera
    pose = recording.poses[int(frames[-1]), plane.body]
    rotation = rotation_matrices(pose[3:])
    frame = rotation @ plane_frame(plane.normal)
    normal = frame[:, 2]
    origin = pose[:3] + normal * (plane.offset / np.linalg.norm(plane.normal))
    height = float((camera.position - origin) @ normal)
    if height <= 0:
        return  # seen from inside the solid: leave the view open
    radius = size_of(recording)
    tile = nice_length(0.45 * radius)
    centre = scene_points(recording, frames).mean(axis=0)
    shadow = _shadow(recording, frames, canvas, light, origin, normal)
    across = (frame[:, :2] / tile).astype(np.float32)
    for top in range(0, canvas.height, BAND):
        rows = slice(top, top + BAND)
        with np.errstate(divide="ignore"):
            distance = np.float32(-height) / (rays[rows] @ normal.astype(np.float32))
        hit = (distance > 0) & (distance < depth[rows])
        points = np.where(hit, distance, np.float32(0))[..., None] * rays[rows]  # seen from the camera
        cells = np.floor(points @ across + (camera.position - origin) @ across).sum(axis=-1).astype(int) % 2
        color = TILES[cells] * (1.0 - (1.0 - SHADOW) * shadow[rows, :, None])
        # The plane fades out with the distance from the motion, so that it has no edge.
        away = np.linalg.norm(points - (centre - camera.position).astype(np.float32), axis=-1) / radius
        strength = np.where(hit, np.clip(1.0 - (away - 2.0) / 6.0, 0.0, 1.0) ** 1.5, 0.0)[..., None]
        picture[rows] = picture[rows] * (1 - strength) + color * strength
        depth[rows] = np.where(hit, distance, depth[rows])


def _shadow(recording, frames, canvas, light, origin, normal) -> np.ndarray:
    """Strength 0..1 of the bodies' shadows on a plane, those of earlier moments fainter."""
    result = np.zeros((canvas.height, canvas.width), dtype=np.float32)
    slope = float(light @ normal)
    if slope < 0.1:
        return result
    last = len(frames) - 1
    casts = [(int(frames[-1]), False, 1.0)]
    casts += [(int(frame), True, 1.0 if k == last else 0.25) for k, frame in enumerate(frames)]
    for frame, moving, strength in casts:
        triangles, colors, _ = _triangles(recording, frame, moving)
        above = (triangles - origin) @ normal
        part = (above >= -1e-9).all(axis=1)
        if part.any():
            flat = triangles[part] - (above[part] / slope)[..., None] * light
            cast = Canvas(canvas.camera, canvas.width, canvas.height)
            cast.draw(flat, colors[part])
            result = np.maximum(result, np.float32(strength) * np.isfinite(cast.depth))
    return result


def _tube(path: np.ndarray, radius: float) -> np.ndarray:
    """Triangles of a thin three-sided tube along a path (n, 3)."""
    if len(path) < 2:
        return np.zeros((0, 3, 3))
    path = path[:: max(1, len(path) // 400)]
    steps = np.diff(path, axis=0)
    kept = np.linalg.norm(steps, axis=1) > 1e-9
    pieces = [_prism(start, end, radius, radius) for start, end in zip(path[:-1][kept], path[1:][kept], strict=True)]
    return np.concatenate(pieces) if pieces else np.zeros((0, 3, 3))


def _arrow(start: np.ndarray, end: np.ndarray, radius: float) -> np.ndarray:
    """Triangles of an arrow: a shaft and a cone."""
    length = np.linalg.norm(end - start)
    if length < 1e-9:
        return np.zeros((0, 3, 3))
    neck = end - (end - start) * min(0.5, 5.0 * radius / length)
    return np.concatenate([_prism(start, neck, radius, radius, 8), _prism(neck, end, 2.4 * radius, 0.0, 8)])


def _prism(start: np.ndarray, end: np.ndarray, first: float, second: float, sides: int = 3) -> np.ndarray:
    """Side triangles of a truncated cone with radii `first` at the start and `second` at the end."""
    frame = plane_frame(end - start)
    angle = 2 * np.pi * np.arange(sides) / sides
    ring = np.cos(angle)[:, None] * frame[:, 0] + np.sin(angle)[:, None] * frame[:, 1]
    low, high = start + first * ring, end + second * ring
    low_next, high_next = np.roll(low, -1, axis=0), np.roll(high, -1, axis=0)
    return np.concatenate([np.stack([low, low_next, high], axis=1), np.stack([high, low_next, high_next], axis=1)])


def _ball(centre: np.ndarray, radius: float, levels: int = 4) -> np.ndarray:
    """Triangles of a sphere, an octahedron subdivided `levels` times."""
    corners = np.concatenate([np.eye(3), -np.eye(3)])[[0, 3, 1, 4, 2, 5]]
    triangles = corners[OCTAHEDRON]
    for _ in range(levels):
        a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
        ab, bc, ca = a + b, b + c, c + a
        triangles = np.concatenate([np.stack(t, axis=1) for t in ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))])
        triangles = triangles / np.linalg.norm(triangles, axis=2, keepdims=True)
    return centre + radius * triangles
