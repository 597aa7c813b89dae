# SPDX-License-Identifier: Apache-2.0
"""Parameters as one vector: the fields in a fixed order, each flat in rows."""

from __future__ import annotations

import numpy as np

import farfield as ff

FIELDS = (
    "moments",
    "attachment",
    "kp",
    "kd",
    "damping",
    "armature",
    "stiffness",
    "gravity",
    "friction",
    "contact_stiffness",
    "hull_vertices",
)


def flatten(parameters: ff.Parameters) -> np.ndarray:
    """All fields, one after the other."""
    return np.concatenate([np.ravel(getattr(parameters, field)) for field in FIELDS])


def unflatten(like: ff.Parameters, vector: np.ndarray) -> ff.Parameters:
    """The inverse of `flatten`; ``like`` gives the sizes."""
    shapes = {field: np.shape(getattr(like, field)) for field in FIELDS}
    ends = np.cumsum([int(np.prod(shape)) for shape in shapes.values()])
    if len(vector) != ends[-1]:
        raise ValueError(f"unflatten: a vector of {len(vector)} numbers, expected {ends[-1]}")
    made = like.copy()
    for (field, shape), values in zip(shapes.items(), np.split(vector, ends[:-1]), strict=True):
        setattr(made, field, values.reshape(shape) if shape else float(values[0]))
    return made


def indices(parameters: ff.Parameters, field: str) -> np.ndarray:
    """Where the entries of a field are in the vector, in the field's shape."""
    if field not in FIELDS:
        raise ValueError(f"parameters have no field '{field}', expected one of: {', '.join(FIELDS)}")
    start = sum(np.size(getattr(parameters, before)) for before in FIELDS[: FIELDS.index(field)])
    shape = np.shape(getattr(parameters, field))
    return np.arange(start, start + int(np.prod(shape))).reshape(shape)
