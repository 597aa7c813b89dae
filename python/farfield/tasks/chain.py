# SPDX-License-Identifier: Apache-2.0
"""Chain: eight links on a driven slide, between two hanging chains, have to reach a point that is too far away for their length.

After [SDRS2025, Sec. V-A, Fig. 10]: control is a spline of four knots for the slide, the design the lengths of the eight links, which carry
the next joint with them. The same optimiser runs twice from the same start, without and with the design.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

import farfield as ff
from farfield.marker import Marker
from farfield.optimize.codesign import CoDesign, Group, Stage, design_groups, roll_finer
from farfield.optimize.design import Design, Scale
from farfield.optimize.losses import Partials
from farfield.optimize.parameterizations import Combined, CubicSpline
from farfield.optimize.points import VertexMean
from farfield.options import option
from farfield.tasks.task import Problem, Task

LINK, HALF_WIDTH = 0.2, 0.02  # [m]
CHAINS, SPACING = 3, 0.15
BLUE, GREY = [0.2, 0.45, 0.75, 1.0], [0.72, 0.74, 0.78, 1.0]


class TipLoss:
    """|tip - target|^2 at the last state [m^2]; the tip is the middle of the last link's end, which moves with the design."""

    def __init__(self, model: ff.Model, links: int, target: np.ndarray) -> None:
        hull = next(hull for hull in model.hulls if hull.shape == f"chain 0 link {links - 1}")
        ends = np.asarray(model.default_parameters().hull_vertices)[hull.rows, 2]
        self.body, self.rows = hull.body, hull.rows.start + np.flatnonzero(ends < ends.min() + 1e-9)
        self.target = np.array(target, dtype=float)

    def __call__(self, trajectory: ff.Trajectory) -> tuple[float, Partials]:
        tip = VertexMean(trajectory, self.body, self.rows)
        offset = np.zeros(tip.places.shape)
        offset[-1] = tip.places[-1] - self.target
        return float((offset**2).sum()), tip.partials(2.0 * offset)


@dataclass(frozen=True)
class Chain(Task):
    """Reach a point that is out of reach: the lengths of a chain's links and the motion of its slide, together."""

    contact: ClassVar[str] = "polyhedral"

    iterations: int = option(60, "optimiser iterations without, and with the design", above=0)
    frames: int = option(250, "time steps", above=0)
    links: int = option(8, "of every chain", above=1)
    dt: float = option(0.01, "time step [s]", above=0)
    rate: float = option(0.03, "of Adam", above=0)
    range: float = option(0.01, "of contact [m]", above=0)
    friction: float = option(0.2, "of the links", least=0)
    noise: float = option(0.02, "of the start, drawn from the seed: knots [m] and length scales", least=0)
    mass: str = option("exact", "how mass follows the shape", choices=("exact", "lumped", "fixed"))

    def build(self, seed: int) -> Problem:
        """The target is 1.6 links out of reach of the chain as it is; the start is perturbed by the seed."""
        model = ff.build_model(scene(self.links, self.friction))
        length = self.links * LINK
        target = np.array([0.5 * length, 0.0, -1.2 * length])
        base = np.tile(model.default_control(), (self.frames, 1))
        names = [f"chain 0 link {k}" for k in range(self.links)]
        design = Design(
            model,
            *(Scale(name, "z", -0.3, 0.6, carry=names[k + 1 : k + 2]) for k, name in enumerate(names)),
            mass=self.mass,
        )
        spline = CubicSpline(base, 4)
        loss = TipLoss(model, self.links, target)
        generator = np.random.default_rng(seed)
        start = self.noise * generator.uniform(-1.0, 1.0, spline.size + design.size)
        groups = [
            Group("control", 0, spline.size, rule="adam_projected", rate=self.rate, lower=-2.0, upper=2.0),
            design_groups(design, spline.size, rule="adam_projected", rate=self.rate),
        ]
        stages = [
            Stage("control", self.iterations, ["control"]),
            Stage("codesign", self.iterations, ["control", "design"]),
        ]
        drivers: list[CoDesign] = []

        def driver(objective: Any) -> CoDesign:
            drivers.append(CoDesign(objective, groups, stages, x=start))
            return drivers[-1]

        def report(trajectory: ff.Trajectory) -> dict[str, Any]:
            return figures(drivers[-1], loss, design, trajectory)

        return Problem(
            model=model,
            parameters=model.default_parameters(),
            parameterization=Combined(spline, design),
            loss=loss,
            driver=driver,
            success=lambda trajectory: np.sqrt(loss(trajectory)[0]) <= 0.2 * LINK,
            report=report,
            dt=self.dt,
            contact_options={"polyhedral": {"range": self.range}},
            markers=[Marker("target", tuple(target), 0.2 * LINK)],
            trails=[names[-1]],
        )


def figures(driver: CoDesign, loss: TipLoss, design: Design, trajectory: ff.Trajectory) -> dict[str, Any]:
    """What the design gains over control alone, and the same at half the time step."""
    if not {"control", "codesign"} <= driver.best.keys():
        return {"figures": {}}
    final, control = loss(trajectory)[0], driver.best_value["control"]
    finer = {}
    for stage in ("control", "codesign"):
        again = roll_finer(driver.objective, driver.inputs_of(stage), 2)
        finer[stage] = loss(again)[0] if again.converged else float("nan")
    z = driver.point("codesign")[-design.size :]
    return {
        "figures": {
            "further_decrease": 1.0 - final / control,
            "error_links": float(np.sqrt(final)) / LINK,
            "control_only_error_links": float(np.sqrt(control)) / LINK,
            "further_decrease_half_dt": 1.0 - finer["codesign"] / finer["control"],
            "error_links_half_dt": float(np.sqrt(finer["codesign"])) / LINK,
        },
        "design": dict(zip(design.names, z.tolist(), strict=True)),
        **design.report(z),
    }


def scene(links: int, friction: float) -> ff.Scene:
    """Three chains side by side; the left one hangs on a driven slide."""
    made = ff.Scene(name="chain")
    made.add_body(name="slider")
    made.add_joint("slider", name="slide", type="slide", axis=[1.0, 0.0, 0.0])
    made.add_actuator(name="slide", joint="slide", type="pd", kp=2000.0, kd=200.0, velocity_input=False)
    made.add_shape("slider", name="slider", type="box", size=[0.04, 0.03, 0.03], position=[0.0, 0.0, 0.03],
                   density=1000.0, collides=False, color=[0.25, 0.27, 0.3, 1.0])  # fmt: skip
    for chain in range(CHAINS):
        parent: int | str = "slider" if chain == 0 else 0
        for k in range(links):
            name = f"chain {chain} link {k}"
            place = [0.0, 0.0, -LINK] if k > 0 else [SPACING * chain, 0.0, 0.0]
            made.add_body(name=name, parent=parent, position=place)
            made.add_joint(name, name=name, type="universal", axis=[1.0, 0.0, 0.0], axis2=[0.0, 1.0, 0.0], damping=0.02)
            made.add_shape(name, name=name, type="box", size=[HALF_WIDTH, HALF_WIDTH, 0.5 * LINK],
                           position=[0.0, 0.0, -0.5 * LINK], density=500.0, friction=friction,
                           keep_vertices=True, color=BLUE if chain == 0 else GREY)  # fmt: skip
            parent = name
    return made
