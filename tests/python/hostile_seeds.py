# SPDX-License-Identifier: Apache-2.0
"""Good files of every kind that a command reads, and the commands that read them."""

from __future__ import annotations

import contextlib
import io
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

SCENES = Path(__file__).resolve().parents[2] / "scenes"

SLIDE = '''
from dataclasses import dataclass

import numpy as np

import farfield as ff
from farfield.optimize import Adam, DirectTargets, ReachLoss, RecedingHorizon
from farfield.tasks import Problem, Task, option


@dataclass(frozen=True)
class Slide(Task):
    """Bring a cart on a rail to a place: no contact, so it is quick."""

    place: float = option(0.3, "where to [m]")
    frames: int = option(6, "steps", above=0)
    iterations: int = 2

    def build(self, seed):
        scene = ff.Scene(name="rail", gravity=[0, 0, 0])
        scene.add_body(name="cart")
        scene.add_joint("cart", name="rail", type="Slide", axis=[1, 0, 0])
        scene.add_shape("cart", type="Box", size=[0.1, 0.1, 0.1])
        scene.add_actuator(name="drive", type="Pd", joint="rail", kp=2000.0, kd=250.0, velocity_input=False)
        model = ff.build_model(scene)
        loss = ReachLoss(["cart"], [[self.place + 0.01 * seed, 0.0, 0.0]], 0.02, when="sum")
        return Problem(
            model=model,
            parameters=model.default_parameters(),
            parameterization=DirectTargets(np.zeros((4, 1))),
            loss=loss,
            driver=lambda objective: RecedingHorizon(objective, Adam(0.02), frames=self.frames, iterations=self.iterations),
            success=lambda trajectory: loss.distances(trajectory)[-1, 0] <= 0.02,
            dt=0.05,
        )
'''

ROBOT = """<robot name="two">
  <link name="base"><inertial><mass value="1"/><inertia ixx="0.1" iyy="0.1" izz="0.1" ixy="0" ixz="0" iyz="0"/></inertial>
    <visual><geometry><mesh filename="part.stl" scale="1 1 1"/></geometry></visual>
    <collision><origin xyz="0 0 0" rpy="0 0 0"/><geometry><box size="0.2 0.2 0.1"/></geometry></collision></link>
  <link name="arm"><inertial><mass value="0.5"/><inertia ixx="0.01" iyy="0.01" izz="0.01" ixy="0" ixz="0" iyz="0"/></inertial>
    <collision><origin xyz="0 0 0.2"/><geometry><mesh filename="part.obj"/></geometry></collision></link>
  <joint name="hinge" type="revolute"><parent link="base"/><child link="arm"/><origin xyz="0 0 0.3"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="5" velocity="2"/><dynamics damping="0.1" friction="0.01"/></joint>
</robot>
"""
MESH_ROBOT = """<robot name="one"><link name="base"><collision><geometry><mesh filename="NAME"/></geometry></collision></link></robot>"""
SVG = """<svg xmlns="http://www.w3.org/2000/svg" width="20" height="20"><g transform="scale(2) rotate(10)">
<path d="M 0 0 L 10 0 C 12 4 12 6 10 10 L 0 10 Z" style="fill:red"/></g></svg>"""
POINTS = "# a square\n0 0\n2 0\n2 2\n0 2\n\n0.5 0.5\n1 0.5\n1 1\n"
TERRAIN = """<mujoco><option timestep="0.01"/><asset><hfield name="hills" nrow="6" ncol="6" size="1 1 0.2 0.1"/>
<mesh name="part" file="part.obj"/></asset><worldbody><geom type="hfield" hfield="hills"/>
<body pos="0 0 1"><freejoint/><geom type="mesh" mesh="part" mass="1"/></body>
<replicate count="2" offset="1 0 0"><body pos="0 0 2"><freejoint/><geom type="sphere" size="0.1"/></body></replicate></worldbody></mujoco>"""


@dataclass(frozen=True)
class Recipe:
    """Files of one folder that are damaged, one at a time, and commands that read them. names: further names that a message may give."""

    kind: str
    folder: str
    files: tuple[str, ...]
    commands: tuple[tuple[str, ...], ...]
    names: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)


TRAIN = ("grains", "train", "FILE", "--map", "exact", "--json", "--quiet")
LOOK = (("view", "run", "--html", "out.html"), ("view", "run", "--png", "out.png", "--frames", "0,1"))
SMALL_COLUMN = (
    "grains",
    "column",
    "--grains",
    "40",
    "--seconds",
    "0.1",
    "--settle",
    "0.05",
    "--no-pictures",
    "--map",
    "exact",
)
COMPARE = (
    "compare",
    "slide.py",
    "--methods",
    "longrange",
    "--starts",
    "trivial",
    "--seeds",
    "1",
    "--budget-seconds",
    "60",
)
RECIPES = (
    Recipe("mjcf", "scenes", ("*.xml",), (("inspect", "FILE"), ("simulate", "FILE", "--steps", "2", "--quiet", "--out", "out"))),
    Recipe("urdf", "robot", ("two.urdf",), (("inspect", "FILE"), ("simulate", "FILE", "--steps", "2", "--quiet", "--out", "out"))),
    Recipe("mesh", "meshes", ("part.*",), (("cloud", "FILE", "--points", "60", "--json"),)),
    Recipe("mesh of a robot", "robot", ("part.*",), (("inspect", "two.urdf"), ("inspect", "terrain.xml"), ("inspect", "dae.urdf"))),
    Recipe("shape", "shapes", ("*.svg", "*.txt", "*.csv"), (TRAIN, (*SMALL_COLUMN, "--shape", "FILE", "--quiet", "--out", "out"))),
    Recipe(
        "map", "maps", ("cache/grains/*",),
        (("grains", "train", "L", "--theta", "64", "--space", "64", "--json", "--quiet"),),
        environment={"FARFIELD_CACHE": "cache"},
    ),
    Recipe("run", "run", ("run/*.json*", "run/*.npz", "run/*.safetensors"),
           (("run", "slide.py", "--resume", "--out", "run", "--quiet"), *LOOK)),
    Recipe("simulated", "simulated", ("run/*.json*", "run/*.safetensors"), LOOK),
    Recipe("grains", "grains", ("run/*.json*", "run/*.npz"), ((*SMALL_COLUMN, "--resume", "--out", "run", "--quiet"),)),
    Recipe("study", "study", ("study/seed-0/*.json*", "study/seed-0/*.npz"),
           (("study", "slide.py", "--seeds", "1", "--out", "study", "--quiet"),), ("study",)),
    Recipe("compare", "compare", ("compare/*.json*", "compare/longrange*/*.json*", "compare/longrange*/*.npz", "compare/longrange*/*.safetensors"),
           ((*COMPARE, "--out", "compare", "--quiet"),), ("compare",)),
)  # fmt: skip


def make(root: Path, kinds: Sequence[str] = ()) -> None:
    """Folders of good files: all, or those that these kinds of cases need."""
    wanted = {each.folder for each in RECIPES if not kinds or each.kind in kinds}
    if not kinds or {"arguments", "specials"} & set(kinds):
        wanted |= {"scenes", "arguments"}
    makers = {
        "scenes": _scenes, "robot": _robot, "meshes": _meshes, "shapes": _shapes, "maps": _maps, "run": _run,
        "simulated": _simulated, "grains": _grains, "study": _study, "compare": _compare, "arguments": _arguments,
    }  # fmt: skip
    before = Path.cwd()
    try:
        for name in sorted(wanted):
            (root / name).mkdir(parents=True)
            os.chdir(root / name)
            with contextlib.redirect_stdout(io.StringIO()):
                makers[name](root / name)
    finally:
        os.chdir(before)


def _command(*words: str) -> None:
    from farfield import cli

    code = cli.main(list(words))
    if code not in (0, 1):
        raise RuntimeError(f"farfield {' '.join(words)}: exit code {code}")


def _scenes(folder: Path) -> None:
    for name in ("ant.xml", "arm7.xml", "bowl.xml", "bowl.obj", "pendulum.xml", "push.xml"):
        shutil.copyfile(SCENES / name, folder / name)
    (folder / "part.obj").write_text(_cube().export(file_type="obj"), encoding="utf-8")
    (folder / "terrain.xml").write_text(TERRAIN, encoding="utf-8")


def _cube():
    import trimesh

    return trimesh.creation.icosphere(subdivisions=1, radius=0.1)


def _meshes(folder: Path) -> None:
    cube = _cube()
    for suffix in ("obj", "stl", "ply", "off"):
        data = cube.export(file_type=suffix)
        (folder / f"part.{suffix}").write_bytes(data.encode() if isinstance(data, str) else data)
    (folder / "part.text.ply").write_bytes(cube.export(file_type="ply", encoding="ascii"))
    (folder / "part.text.stl").write_text(cube.export(file_type="stl_ascii"), encoding="utf-8")


def _robot(folder: Path) -> None:
    _meshes(folder)
    (folder / "two.urdf").write_text(ROBOT, encoding="utf-8")
    (folder / "terrain.xml").write_text(TERRAIN, encoding="utf-8")
    with contextlib.suppress(ImportError):
        (folder / "part.dae").write_bytes(_cube().export(file_type="dae"))
    for name in ("part.dae", "part.ply", "part.text.stl"):
        text = MESH_ROBOT.replace("NAME", name)
        (folder / f"{name.split('.')[-1]}.urdf").write_text(text, encoding="utf-8")


def _shapes(folder: Path) -> None:
    (folder / "blob.svg").write_text(SVG, encoding="utf-8")
    (folder / "ring.txt").write_text(POINTS, encoding="utf-8")
    (folder / "ring.csv").write_text(POINTS.replace(" ", ","), encoding="utf-8")


def _maps(folder: Path) -> None:
    os.environ["FARFIELD_CACHE"] = str(folder / "cache")
    try:
        _command("grains", "train", "L", "--theta", "64", "--space", "64", "--quiet")
    finally:
        del os.environ["FARFIELD_CACHE"]


def _slide(folder: Path) -> None:
    (folder / "slide.py").write_text(SLIDE, encoding="utf-8")


def _half_run(folder: Path, out: Path) -> None:
    """A run that was stopped in the middle."""
    from farfield.experiments import runner
    from farfield.experiments.registry import find_task

    run = runner.start(find_task(str(folder / "slide.py"))(), seed=0, out=out)
    runner.execute(run, quiet=True, stop_after=3)
    runner.finish(run)


def _run(folder: Path) -> None:
    _slide(folder)
    _half_run(folder, folder / "run")


def _simulated(folder: Path) -> None:
    shutil.copyfile(SCENES / "pendulum.xml", folder / "pendulum.xml")
    _command("simulate", "pendulum.xml", "--steps", "3", "--quiet", "--out", "run")


def _grains(folder: Path) -> None:
    _command(*SMALL_COLUMN, "--quiet", "--out", "run")


def _study(folder: Path) -> None:
    _slide(folder)
    _half_run(folder, folder / "study" / "seed-0")


def _compare(folder: Path) -> None:
    _slide(folder)
    _command(*COMPARE, "--quiet", "--out", "compare")


def _arguments(folder: Path) -> None:
    _scenes(folder)
    _meshes(folder)
    _shapes(folder)
    _slide(folder)
    (folder / "two.urdf").write_text(ROBOT, encoding="utf-8")
    _command("simulate", "pendulum.xml", "--steps", "3", "--quiet", "--out", "run")
    np.save(folder / "array.npy", np.zeros(3))
