# SPDX-License-Identifier: Apache-2.0
"""`farfield inspect FILE`: what was imported, applied, approximated and dropped, and which bodies may meet."""

from __future__ import annotations

import argparse
from collections import Counter

from farfield.commands.arguments import add_collision_arguments, add_import_arguments, import_options

KINDS = ("applied", "approximated", "repaired", "dropped")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="MJCF or URDF file")
    add_collision_arguments(parser)
    parser.add_argument("--json", action="store_true", help="print one JSON object on standard output")
    add_import_arguments(parser)


def run(args: argparse.Namespace) -> int:
    import farfield as ff
    from farfield.commands.far_forces import far_force_warnings
    from farfield.importers import import_file
    from farfield.output import dump_json
    from farfield.reading import blamed_on

    with blamed_on(args.file):
        imported = import_file(
            args.file, collision=args.collision, self_contact=args.self_contact, **import_options(args)
        )
        model = ff.build_model(imported.scene)
    report = describe(model)
    far = far_force_warnings(model, model.default_parameters(), ff.LongRange(), model.default_state().q)
    report["warnings"] = [*report["warnings"], *far]
    report |= {kind: [note.text for note in imported.notes if note.kind == kind] for kind in KINDS}
    report["counts"] = {kind: sum(note.count for note in imported.notes if note.kind == kind) for kind in KINDS}
    print(dump_json({"file": args.file, **report}) if args.json else as_text(args.file, report))
    return 0


def describe(model) -> dict:
    """What a model holds, as plain numbers and names."""
    scene = model.scene
    mass = model.default_parameters().moments[:, 0]
    colliding = [shape for shape in scene.shapes if shape.collides]
    triangles = Counter()
    surfaces = [shape for shape in scene.shapes if shape.type.name != "HalfSpace"]  # what drawables() leaves out
    for shape, drawable in zip(surfaces, model.drawables(), strict=True):
        triangles[shape.body] += len(drawable.triangles) if shape.collides else 0
    return {
        "name": model.name,
        "dt": model.default_dt,
        "dt_stated": scene.dt is not None,
        "gravity": scene.gravity,
        "bodies": [
            {
                "name": body.name,
                "parent": scene.bodies[body.parent].name if index else None,
                "motion": body.motion.name,
                "joints": [joint.name for joint in body.joints],
                "mass": mass[index],
                "triangles": triangles[index],
            }
            for index, body in enumerate(scene.bodies)
        ],
        "joints": [
            {"name": joint.name, "type": joint.type.name, "dofs": _width(model.joint_dofs(joint.name))}
            for joint in scene.joints
        ],
        "actuators": [
            {
                "name": actuator.name,
                "type": actuator.type.name,
                "joint": actuator.joint,
                "tendon": actuator.tendon,
                "body": actuator.body,
            }
            for actuator in scene.actuators
        ],
        "tendons": [tendon.name for tendon in scene.tendons],
        "constraints": [{"name": each.name, "type": each.type.name} for each in scene.constraints],
        "constraint_rows": model.num_constraint_rows,
        "keyframes": list(model.keyframes),
        "coordinates": model.num_q,
        "dofs": model.num_dofs,
        "unknowns": model.num_unknowns,
        "controls": model.num_controls,
        "parameters": model.num_parameters,
        "shapes": len(scene.shapes),
        "colliding_shapes": len(colliding),
        "triangles": sum(triangles.values()),
        "contact_pairs": model.contact_pairs,
        "contact_policies": model.contact_policies,
        "self_contact": scene.self_contact.name.lower().rstrip("_"),
        "excluded_pairs": model.excluded_pairs,
        "warnings": model.warnings,
    }


def pairs_with(report: dict, policy: str) -> list[str]:
    """The contact pairs of one policy, as text."""
    pairs = zip(report["contact_pairs"], report["contact_policies"], strict=True)
    return [", ".join(pair) for pair, own in pairs if own == policy]


def _width(dofs: slice) -> int:
    return dofs.stop - dofs.start


def exclusion_lines(excluded: list[str]) -> list[str]:
    """`Model.excluded_pairs` with one line per reason: "joined: torso, thigh; thigh, shin"."""
    pairs: dict[str, list[str]] = {}
    for text in excluded:
        pair, _, reason = text.rpartition(": ")
        pairs.setdefault(reason, []).append(pair)
    return [f"{reason}: {'; '.join(found)}" for reason, found in pairs.items()]


def time_step(dt: float, *, stated: bool) -> str:
    """A model's own time step and where it comes from."""
    return f"{dt:g} s ({'stated by the file' if stated else 'the default'})"


def as_text(file: str, report: dict) -> str:
    counts = Counter(joint["type"] for joint in report["joints"])
    joints = ", ".join(f"{count} {kind}" for kind, count in counts.items())
    lines = [
        f"{file}: {report['name']}",
        f"  time step    {time_step(report['dt'], stated=report['dt_stated'])}",
        f"  gravity      {' '.join(f'{g:g}' for g in report['gravity'])} m/s^2",
        f"  bodies       {len(report['bodies'])} with the world: {sum(body['mass'] for body in report['bodies']):.6g} kg",
        f"  joints       {len(report['joints'])}{f': {joints}' if joints else ''}",
        f"  sizes        {report['dofs']} degrees of freedom ({report['unknowns']} unknowns), {report['coordinates']} "
        f"coordinates, {report['controls']} controls, {report['parameters']} parameters",
        f"  shapes       {report['shapes']}, {report['colliding_shapes']} of them collide with {report['triangles']:,} triangles",
        f"  held by      {len(report['tendons'])} tendons, {len(report['constraints'])} constraints "
        f"({report['constraint_rows']} equations)",
        f"  keyframes    {', '.join(report['keyframes']) or 'none'}",
        "  import       " + ", ".join(f"{report['counts'][kind]} {kind}" for kind in KINDS),
    ]
    for body in report["bodies"][1:]:
        held = ", ".join(body["joints"]) or body["motion"].lower()
        lines.append(
            f"    {body['name']}: on {body['parent']} by {held}, {body['mass']:.6g} kg, {body['triangles']:,} triangles"
        )
    sections = {
        "may meet, and push each other at any distance": pairs_with(report, "all"),
        "may meet, and push each other only when near": pairs_with(report, "near"),
        "left out of contact": exclusion_lines(report["excluded_pairs"]),
        **{kind: report[kind] for kind in KINDS},
        "unusual": report["warnings"],
    }
    for title, entries in sections.items():
        lines += [f"  {title}: {'' if entries else 'nothing'}".rstrip(), *(f"    {entry}" for entry in entries)]
    return "\n".join(lines)
