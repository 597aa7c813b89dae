# SPDX-License-Identifier: Apache-2.0
"""Bombs and traps by name: each writes its files into a folder and gives a command line, and what the message has to name."""

from __future__ import annotations

import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

Trap = Callable[[Path], tuple[list[str], list[str]]]
ENTITIES = (
    '<?xml version="1.0"?><!DOCTYPE bomb [<!ENTITY a "aaaaaaaaaaaaaaaaaaaa">'
    + "".join(f'<!ENTITY {b} "{f"&{a};" * 10}">' for a, b in zip("abcdefgh", "bcdefghi", strict=True))
    + "]>"
)
HEIGHTS = '<mujoco><asset><hfield name="h" nrow="100000" ncol="100000" size="1 1 1 1"/></asset><worldbody><geom type="hfield" hfield="h"/></worldbody></mujoco>'
FALL = '<mujoco><worldbody><body pos="0 0 1"><freejoint/><geom size="0.1"/></body>{}</worldbody></mujoco>'
OUTLINE = '<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">{}</svg>'
SQUARE = '<path d="M0 0 L1 0 L1 1 L0 1 Z"/>'
COLUMN = [
    "grains",
    "column",
    "--settle",
    "0.05",
    "--seconds",
    "0.1",
    "--no-pictures",
    "--map",
    "exact",
    "--quiet",
    "--out",
    "new",
]
SPECIALS: dict[str, Trap] = {}


def special(function: Trap) -> Trap:
    SPECIALS[function.__name__.replace("_", " ")] = function
    return function


def scene(name: str, text: str | bytes, *, command: str = "inspect", names: tuple[str, ...] = ()) -> None:
    """A trap that is one scene or shape file."""

    def make(box: Path) -> tuple[list[str], list[str]]:
        suffix = ".svg" if b"<svg" in (text if isinstance(text, bytes) else text.encode()) else ".xml"
        file = box / f"trap{suffix}"
        file.write_bytes(text if isinstance(text, bytes) else text.encode())
        argv = ["grains", "train", file.name, "--map", "exact", "--quiet"] if suffix == ".svg" else [command, file.name]
        return argv, [file.name, *names]

    SPECIALS[name] = make


def arguments(name: str, *argv: str, names: tuple[str, ...] = ()) -> None:
    SPECIALS[name] = lambda box: (list(argv), list(names))


scene("entity bomb in a scene", ENTITIES + "<mujoco model='&i;'><worldbody/></mujoco>")
scene("entity bomb in a robot", ENTITIES + "<robot name='&i;'><link name='a'/></robot>")
scene("entity bomb in a shape", ENTITIES + OUTLINE.format(f"<desc>&i;</desc>{SQUARE}"))
scene(
    "external entity",
    '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><mujoco model="m"><worldbody>&e;</worldbody></mujoco>',
)
scene("unknown encoding of a scene", '<?xml version="1.0" encoding="foo"?><mujoco><worldbody/></mujoco>')
scene("unknown encoding of a shape", '<?xml version="1.0" encoding="foo"?>' + OUTLINE.format(SQUARE))
scene("recursive use", OUTLINE.format('<g id="a"><use xlink:href="#a"/></g>' + SQUARE))
scene("use in a circle", OUTLINE.format('<g id="a"><use href="#b"/></g><g id="b"><use href="#a"/></g>' + SQUARE))
scene(
    "use that doubles 40 times",
    OUTLINE.format(
        f'<g id="u0">{SQUARE}</g>'
        + "".join(f'<g id="u{k + 1}"><use href="#u{k}"/><use href="#u{k}"/></g>' for k in range(40))
    ),
)
scene("deeply nested elements of a shape", OUTLINE.format("<g>" * 50_000 + SQUARE + "</g>" * 50_000))
scene("deeply nested bodies", FALL.format("<body>" * 50_000 + "</body>" * 50_000))
scene("height field of 100000 squared", HEIGHTS)
scene("height field of 100000 squared simulated", HEIGHTS, command="simulate")
scene("a billion copies", FALL.format('<replicate count="1000000000"><body><geom size="1"/></body></replicate>'))
scene(
    "copies of copies",
    FALL.format(
        '<replicate count="1000"><replicate count="1000"><replicate count="1000"><geom size="1"/></replicate></replicate></replicate>'
    ),
)
scene(
    "flexible grid of a billion",
    FALL.format('<flexcomp type="grid" count="1000 1000 1000" name="f" dim="3" spacing=".1 .1 .1"/>'),
)
scene("a body at 1e308", FALL.format('<body pos="1e308 0 0"><freejoint/><geom size="0.1"/></body>'), command="simulate")
scene("a mass of 1e308", FALL.format('<body><freejoint/><geom size="0.1" mass="1e308"/></body>'), command="simulate")
scene(
    "a size of 1e200",
    FALL.format('<body><freejoint/><geom type="box" size="1e200 1 1" mass="1"/></body>'),
    command="simulate",
)
scene(
    "a terabyte of arena",
    '<mujoco><size memory="1T"/><worldbody><body><freejoint/><geom size="0.1"/></body></worldbody></mujoco>'.replace(
        "1T", "1E"
    ),
)
scene("a scene that includes a password file", '<mujoco><include file="../../../../../../../../etc/passwd"/></mujoco>')
scene("a scene that includes itself", '<mujoco><include file="trap.xml"/></mujoco>')
scene(
    "a mesh that is a password file",
    '<mujoco><asset><mesh file="/etc/passwd" content_type="model/obj"/></asset></mujoco>',
)
scene(
    "a mesh that is a device",
    '<mujoco><asset><mesh name="m" file="/dev/zero" content_type="model/stl"/></asset><worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>',
)
scene(
    "a mesh of a robot that is a device",
    '<robot name="r"><link name="a"><visual><geometry><mesh filename="file:///dev/zero"/></geometry></visual></link></robot>',
)
scene(
    "a mesh of a robot that is a password file",
    '<robot name="r"><link name="a"><collision><geometry><mesh filename="../../../../../../etc/passwd"/></geometry></collision></link></robot>',
)
scene("a body of zeros", bytes(100_000))

arguments("a billion grains", *COLUMN, "--grains", "1000000000", names=("grains",))
arguments("a billion grains of a silo", "grains", "silo", *COLUMN[2:], "--grains", "1000000000", names=("grains",))
arguments(
    "a billion grains of a packing", "grains", "packing", *COLUMN[4:], "--grains", "1000000000", names=("grains",)
)
arguments("a billion grains of a drum", "grains", "drum", *COLUMN[4:], "--grains", "1000000000", names=("grains",))
arguments(
    "a contact map of a terabyte",
    "grains",
    "train",
    "L",
    "--theta",
    "100000",
    "--space",
    "100000",
    "--quiet",
    names=("theta", "space"),
)
arguments(
    "a network of a terabyte",
    "grains",
    "train",
    "L",
    "--map",
    "network",
    "--network",
    "1000x100000",
    "--quiet",
    names=("network",),
)
arguments(
    "a billion threads", "simulate", "pendulum.xml", "--threads", "1000000000", "--out", "new", names=("threads",)
)
arguments("a billion threads of grains", *COLUMN, "--grains", "40", "--threads", "1000000000", names=("threads",))
arguments("a trillion points", "cloud", "part.obj", "--points", "1000000000000", names=("points",))
arguments("no distance of points", "cloud", "part.obj", "--spacing", "1e-12", names=("spacing",))
arguments("distance that is no number", "cloud", "part.obj", "--spacing", "nan", names=("spacing",))
arguments("a scene that is a device", "inspect", "/dev/zero", names=("/dev/zero",))
arguments("a scene that is a folder", "inspect", "run", names=("run",))
arguments("a run directory that is a device", "view", "/dev/null", names=("/dev/null",))
arguments("a shape that is a folder", "grains", "train", "folder.svg", "--quiet", names=("folder.svg",))
arguments(
    "an output below a file",
    "simulate",
    "pendulum.xml",
    "--steps",
    "2",
    "--quiet",
    "--out",
    "part.obj/new",
    names=("part.obj",),
)
arguments(
    "an output in a kernel's folder",
    "simulate",
    "pendulum.xml",
    "--steps",
    "2",
    "--quiet",
    "--out",
    "/proc/new",
    names=("/proc/new",),
)


@special
def a_pipe_in_place_of_a_scene(box: Path):
    os.mkfifo(box / "pipe.xml")
    return ["inspect", "pipe.xml"], ["pipe.xml"]


@special
def a_pipe_in_place_of_a_mesh(box: Path):
    os.mkfifo(box / "pipe.obj")
    return ["cloud", "pipe.obj"], ["pipe.obj"]


@special
def a_pipe_in_place_of_a_configuration(box: Path):
    (box / "run" / "config.json").unlink()
    os.mkfifo(box / "run" / "config.json")
    return ["view", "run", "--html", "out.html"], ["config.json"]


@special
def a_configuration_that_is_a_link(box: Path):
    (box / "elsewhere.json").write_bytes((box / "run" / "config.json").read_bytes())
    (box / "run" / "config.json").unlink()
    (box / "run" / "config.json").symlink_to(box / "elsewhere.json")
    return ["view", "run", "--html", "out.html"], ["config.json"]


@special
def a_motion_that_is_a_link(box: Path):
    file = box / "run" / "trajectory.safetensors"
    file.rename(box / "elsewhere.safetensors")
    file.symlink_to(box / "elsewhere.safetensors")
    return ["view", "run", "--html", "out.html"], ["trajectory.safetensors"]


@special
def a_configuration_nested_deeply(box: Path):
    (box / "run" / "config.json").write_text("[" * 200_000 + "]" * 200_000, encoding="utf-8")
    return ["view", "run", "--html", "out.html"], ["config.json"]


@special
def a_configuration_of_a_gigabyte(box: Path):
    with (box / "run" / "config.json").open("wb") as stream:
        stream.truncate(1 << 32)
    return ["view", "run", "--html", "out.html"], ["config.json"]


@special
def arrays_that_unpack_to_a_terabyte(box: Path):
    with zipfile.ZipFile(box / "run" / "overlays.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        head = (
            b"\x93NUMPY\x01\x00v\x00"
            + b"{'descr': '|u1', 'fortran_order': False, 'shape': (4000000000,), }".ljust(117)
            + b"\n"
        )
        with archive.open("header.npy", "w", force_zip64=True) as stream:
            stream.write(head)
            for _ in range(40):
                stream.write(bytes(100_000_000))
    return ["view", "run", "--html", "out.html"], ["overlays.npz"]


@special
def a_mesh_archive_that_unpacks_to_gigabytes(box: Path):
    with (
        zipfile.ZipFile(box / "bomb.3mf", "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("3D/3dmodel.model", "w", force_zip64=True) as stream,
    ):
        for _ in range(30):
            stream.write(b" " * 100_000_000)
    return ["cloud", "bomb.3mf"], ["bomb.3mf"]


@special
def an_archive_called_a_mesh(box: Path):
    with zipfile.ZipFile(box / "bomb.stl", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("a.stl", b" " * 10_000_000)
    return ["cloud", "bomb.stl"], ["bomb.stl"]


@special
def a_mesh_that_says_a_billion_vertices(box: Path):
    head = "ply\nformat binary_little_endian 1.0\nelement vertex 1000000000\nproperty float x\nproperty float y\nproperty float z\n"
    head += "element face 1000000000\nproperty list uchar int vertex_indices\nend_header\n"
    (box / "big.ply").write_bytes(head.encode() + bytes(100))
    return ["cloud", "big.ply"], ["big.ply"]


@special
def a_mesh_in_text_that_says_a_billion_vertices(box: Path):
    (box / "big.off").write_text("OFF\n1000000000 1000000000 0\n0 0 0\n", encoding="utf-8")
    return ["cloud", "big.off"], ["big.off"]


@special
def a_triangle_outside_its_mesh(box: Path):
    (box / "far.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 99999999\n", encoding="utf-8")
    return ["cloud", "far.obj"], ["far.obj"]


@special
def the_method_of_a_configuration_is_a_program(box: Path):
    config = json.loads((box / "run" / "config.json").read_text(encoding="utf-8"))
    (box / "evil.py").write_text("open('executed', 'w')", encoding="utf-8")
    config["options"] = {"task": "slide", "contact": "none", "method": "evil.py", "set": {}}
    (box / "run" / "config.json").write_text(json.dumps(config), encoding="utf-8")
    return ["run", "slide.py", "--resume", "--out", "run"], ["run"]
