# SPDX-License-Identifier: Apache-2.0
"""Where things are, and from where to look at them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from farfield.viewer.recording import Recording

MAX_SAMPLES = 60  # frames looked at when fitting: enough for a smooth motion


@dataclass(frozen=True)
class Camera:
    """Pinhole camera: position, look_at [m] and up in the world; fov is the vertical opening angle [rad]."""

    position: np.ndarray
    look_at: np.ndarray
    up: np.ndarray
    fov: float

    def axes(self) -> np.ndarray:
        """Rows: right, up, forward; orthonormal."""
        forward = _unit(self.look_at - self.position)
        right = _unit(np.cross(forward, self.up))
        return np.stack([right, np.cross(right, forward), forward])


def up_vector(up: str) -> np.ndarray:
    """Unit vector for "x", "y" or "z"."""
    if up not in ("x", "y", "z"):
        raise ValueError(f"up is '{up}', expected 'x', 'y' or 'z'")
    return np.eye(3)["xyz".index(up)]


def rotation_matrices(quaternions: np.ndarray) -> np.ndarray:
    """Rotation matrices (..., 3, 3) of quaternions (..., 4) in the order w, x, y, z; normalised first."""
    w, x, y, z = np.moveaxis(quaternions / np.linalg.norm(quaternions, axis=-1, keepdims=True), -1, 0)
    rows = [
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ]
    return np.moveaxis(np.array(rows), (0, 1), (-2, -1))


def scene_points(recording: Recording, frames: np.ndarray | None = None) -> np.ndarray:
    """Points (n, 3) whose hull covers what is drawn at the given frames: corners of each mesh's box, and markers."""
    if frames is None:
        count = min(recording.num_frames, MAX_SAMPLES)
        frames = np.unique(np.linspace(0, recording.num_frames - 1, count).round().astype(int))
    points = []
    for drawable in recording.drawables:
        vertices = np.asarray(drawable.vertices, dtype=float)
        if len(vertices) == 0:
            continue
        if len(vertices) > 8:
            box = np.stack([vertices.min(axis=0), vertices.max(axis=0)])
            vertices = np.stack(np.meshgrid(*box.T, indexing="ij"), axis=-1).reshape(-1, 3)
        poses = recording.poses[frames, drawable.body]
        turned = np.einsum("fij,nj->fni", rotation_matrices(poses[:, 3:]), vertices)
        points.append((turned + poses[:, None, :3]).reshape(-1, 3))
    for marker in recording.markers:
        reach = marker.radius * np.concatenate([np.eye(3), -np.eye(3)])
        points.append(np.asarray(marker.position) + (reach[[0, 1, 3, 4]] if marker.flat else reach))
    if not points:
        points.append(recording.poses[frames, :, :3].reshape(-1, 3))
    return np.concatenate(points)


def fit_camera(
    recording: Recording,
    *,
    up: str = "z",
    aspect: float = 1.5,
    fov: float = math.radians(35.0),
    margin: float = 1.12,
    frames: np.ndarray | None = None,
    elevation: float = math.radians(22.0),
) -> Camera:
    """Camera that sees everything drawn at the given frames (all when None), most of the motion across the picture.

    elevation: angle [rad] by which it looks down.
    """
    points = scene_points(recording, frames)
    centre = 0.5 * (points.min(axis=0) + points.max(axis=0))
    vertical = up_vector(up)
    direction = _viewing_direction(recording, vertical, elevation)
    axes = Camera(centre - direction, centre, vertical, fov).axes()
    # Distance d of the camera such that every point fits: |x| <= (d + z) tan(fov / 2), likewise |y|.
    x, y, z = np.abs((points - centre) @ axes[0]), np.abs((points - centre) @ axes[1]), (points - centre) @ axes[2]
    slope = math.tan(fov / 2) / margin
    distance = max((x / (slope * aspect) - z).max(), (y / slope - z).max(), 1e-3)
    return Camera(centre - distance * direction, centre, vertical, fov)


def _viewing_direction(recording: Recording, vertical: np.ndarray, elevation: float) -> np.ndarray:
    """From the camera to the scene: down by the elevation, 65 degrees off the main horizontal motion."""
    first = np.cross(vertical, [0.0, 0.0, 1.0] if vertical[2] == 0 else [0.0, 1.0, 0.0])
    second = np.cross(vertical, first)
    moving = recording.moving_bodies()
    azimuth = math.radians(-125.0)
    if moving.size:
        path = recording.poses[:, moving, :3].mean(axis=1)
        flat = np.stack([path @ first, path @ second], axis=1)
        flat = flat - flat.mean(axis=0)
        _, sizes, rows = np.linalg.svd(flat, full_matrices=False)
        if len(sizes) and sizes[0] > 0.05 * math.sqrt(len(path)) * size_of(recording):
            along = rows[0] if rows[0] @ (flat[-1] - flat[0]) >= 0 else -rows[0]
            azimuth = math.atan2(along[1], along[0]) + math.radians(65.0)
    flat_direction = math.cos(azimuth) * first + math.sin(azimuth) * second
    return _unit(math.cos(elevation) * flat_direction - math.sin(elevation) * vertical)


def size_of(recording: Recording) -> float:
    """Half the diagonal of everything drawn over the whole motion [m], at least 1e-3."""
    points = scene_points(recording)
    return max(0.5 * float(np.linalg.norm(points.max(axis=0) - points.min(axis=0))), 1e-3)


def nice_length(length: float) -> float:
    """The largest of 1, 2 and 5 times a power of ten that is not above the length."""
    power = 10.0 ** math.floor(math.log10(length))
    return max(step * power for step in (1.0, 2.0, 5.0) if step * power <= length * (1 + 1e-9))


def plane_frame(normal) -> np.ndarray:
    """Rotation whose third column is the unit normal; the first lies along the x axis as far as it can."""
    third = _unit(np.asarray(normal, dtype=float))
    helper = np.eye(3)[0 if abs(third[0]) < 0.9 else 1]
    first = _unit(helper - third * (third @ helper))
    return np.stack([first, np.cross(third, first), third], axis=1)


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)
