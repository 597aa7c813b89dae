# SPDX-License-Identifier: Apache-2.0
"""Warnings of contact that holds up or pushes free bodies from afar."""

from __future__ import annotations

import numpy as np

LARGEST = 0.1  # of a free body's weight, without a warning


def far_force_warnings(model, parameters, contact, q) -> list[str]:
    """One for every free body, with what hangs on it, that far pairs push with more than a tenth of its weight; none without contact."""
    gravity = float(np.linalg.norm(parameters.gravity))
    if contact is None or gravity == 0.0 or not model.contact_pairs:
        return []
    bodies, joints = model.scene.bodies, {joint.name: joint for joint in model.scene.joints}
    forces, masses = np.array(contact.far_forces(model, parameters, q)), parameters.moments[:, 0].copy()
    for index in range(len(bodies) - 1, 0, -1):  # to the roots of the trees
        if bodies[index].parent > 0:
            forces[bodies[index].parent] += forces[index]
            masses[bodies[index].parent] += masses[index]
    warnings = []
    for index, body in enumerate(bodies):
        free = any(joints[joint.name].type.name == "Free" for joint in body.joints)
        force, weight = float(np.linalg.norm(forces[index])), float(masses[index]) * gravity
        if free and body.motion.name == "Dynamic" and force > LARGEST * weight:
            enough = 10.0 ** np.floor(np.log10(LARGEST * weight / force))
            warnings.append(
                f"body '{body.name}': contact with bodies it is nowhere near pushes it with {force:.3g} N, "
                f"{force / weight:.0%} of its weight; lower the stiffness of contact, to which this is proportional "
                f"(--stiffness {enough:g} of what it is)"
            )
    return warnings
