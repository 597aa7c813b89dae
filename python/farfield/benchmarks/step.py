# SPDX-License-Identifier: Apache-2.0
"""One contact-free step and its vjp.

Peer: MuJoCo's mjd_transitionFD (forward differences, the cheaper kind; its cheapest integrator) on the same file with
contacts disabled, at the same state and time step, inside all joint ranges so that MuJoCo has no constraint to solve.
It yields the full Jacobian by state and control; ours is one vector-Jacobian product, by state, control and parameters,
which is what an optimiser asks for.
"""

from __future__ import annotations

import importlib.util
import math
import time
from pathlib import Path

import numpy as np

from farfield.benchmarks.measure import Check, Timing, result_hash, take_turns

DT = 0.01
REPEATS = 20
WARM_UP_STEPS, STEPS = 10, 100
BATCH, BATCH_STEPS, BATCH_REPEATS = 16, 200, 8
SINGLE_STEPS, SINGLE_REPEATS = 1000, 5
SPIN_ROUNDS = 2_000_000
CHAIN_LINKS = (7, 14, 28, 56)
ASSEMBLY_REPEATS = 400
PROTOTYPE_ASSEMBLY = 5.7e-6  # gradient and Hessian of a chain with 14 degrees of freedom [s]


def run(progress) -> dict:
    """All measurements; `progress(text, turns)` gives a function to call after each turn."""
    timings: dict[str, Timing] = {}
    checks: list[Check] = []
    hashes: dict[str, str] = {}
    for name, file, bound in (("ant", ant_file(), 5.0), ("arm", scene_file("arm7.xml"), 3.0)):
        measure_step(name, file, bound, progress, timings, checks, hashes)
    measure_single_steps(progress, timings, checks)
    measure_threads(progress, timings, checks, hashes)
    measure_assembly(progress, timings, checks, hashes)
    return {"timings": timings, "checks": checks, "hashes": hashes}


def ant_file() -> Path:
    """The ant of Gymnasium."""
    package = importlib.util.find_spec("gymnasium")
    if package is None:
        raise ValueError("bench step: needs the ant of the package gymnasium: pip install 'farfield[test]'")
    return Path(package.origin).parent / "envs" / "mujoco" / "assets" / "ant.xml"


def scene_file(name: str) -> Path:
    """A file of the folder scenes/ of the source tree."""
    for folder in Path(__file__).resolve().parents:
        if (file := folder / "scenes" / name).is_file():
            return file
    raise ValueError(f"bench step: scenes/{name} not found; run from a source tree of farfield (make setup)")


def saved_state(model, parameters, seed: int):
    """State after a few steps that start with every limited joint in the middle of its range; and a control sequence."""
    import farfield as ff

    generator = np.random.default_rng(seed)
    start = model.default_state()
    q = np.array(start.q)
    for body in model.scene.bodies:
        for joint in body.joints:
            if joint.range is not None:
                q[model.joint_q(joint.name)] = 0.5 * (joint.range.lower + joint.range.upper)
    v = 0.3 * generator.standard_normal(np.shape(start.v))
    controls = model.default_control() + 0.1 * generator.standard_normal((WARM_UP_STEPS + STEPS, model.num_controls))
    warm_up = ff.rollout(model, parameters, ff.State(q=q, v=v), controls[:WARM_UP_STEPS], dt=DT, contact=None)
    return warm_up.state(-1), controls[WARM_UP_STEPS:]


def finite_differences(file: Path, state, control):
    """A call of mjd_transitionFD at this state."""
    import mujoco

    model = mujoco.MjModel.from_xml_path(str(file))
    model.opt.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT
    model.opt.integrator = mujoco.mjtIntegrator.mjINT_EULER
    model.opt.timestep = DT
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:], data.ctrl[:] = state.q, state.v, control
    mujoco.mj_forward(model, data)
    if data.nefc:
        raise RuntimeError(f"bench step: {file.name} starts with {data.nefc} active constraints in MuJoCo, expected 0")
    size = 2 * model.nv + model.na
    by_state, by_control = np.zeros((size, size)), np.zeros((size, model.nu))
    return lambda: mujoco.mjd_transitionFD(model, data, 1e-6, False, by_state, by_control, None, None)


def measure_step(name, file, bound, progress, timings, checks, hashes) -> None:
    import farfield as ff

    model, parameters = ff.load(file)
    state, controls = saved_state(model, parameters, seed=1)
    differences = finite_differences(file, state, controls[0])
    partials = np.random.default_rng(2).standard_normal((STEPS + 1, model.num_dofs))
    trajectory = ff.rollout(model, parameters, state, controls, dt=DT, contact=None)
    if not trajectory.converged:
        raise RuntimeError(f"bench step: the {name} did not converge")
    gradient = ff.rollout_vjp(trajectory, dL_dq=partials)
    hashes[name] = result_hash([trajectory.q, trajectory.v, gradient.q0, gradient.v0, gradient.controls])
    iterations = sum(report.iterations for report in trajectory.reports) / STEPS
    peers = {
        "step": (lambda: ff.rollout(model, parameters, state, controls, dt=DT, contact=None), STEPS),
        "vjp": (lambda: ff.rollout_vjp(trajectory, dL_dq=partials), STEPS),
        "mjd_transitionFD": (lambda: [differences() for _ in range(10)], 10),
    }
    found = take_turns(peers, repeats=REPEATS, tick=progress(f"{name}: step, vjp, mjd_transitionFD", REPEATS + 1))
    timings.update({f"{name} {peer}": timing for peer, timing in found.items()})
    ours = found["step"].minimum + found["vjp"].minimum
    note = f"{model.num_dofs} degrees of freedom, {iterations:.2g} Newton iterations per step"
    checks.append(
        Check(f"{name}: mjd_transitionFD / (step + vjp)", found["mjd_transitionFD"].minimum / ours, ">=", bound, note)
    )
    checks.append(Check(f"{name}: vjp / step", found["vjp"].minimum / found["step"].minimum, "<=", 1.0))


def measure_single_steps(progress, timings, checks) -> None:
    """A thousand steps one by one against one rollout of them: the ant with its contact."""
    import farfield as ff

    model, parameters = ff.load(ant_file())
    control = model.default_control()
    controls = np.tile(control, (SINGLE_STEPS, 1))
    simulation = ff.Simulation(model, parameters, dt=DT)

    def one_by_one():
        simulation.reset()
        for _ in range(SINGLE_STEPS):
            simulation.step(control)

    def at_once():
        return ff.rollout(model, parameters, model.default_state(), controls, dt=DT)

    one_by_one()
    if not np.array_equal(simulation.state.q, at_once().q[-1]):
        raise RuntimeError("bench step: single steps have other bits than the rollout of them")
    peers = {"ant, single steps": (one_by_one, SINGLE_STEPS), "ant, rollout": (at_once, SINGLE_STEPS)}
    found = take_turns(peers, repeats=SINGLE_REPEATS, tick=progress("single steps", SINGLE_REPEATS + 1))
    timings.update(found)
    ratio = found["ant, single steps"].minimum / found["ant, rollout"].minimum
    checks.append(Check("ant with contact: 1000 single steps / rollout", ratio, "<=", 1.05))


def measure_threads(progress, timings, checks, hashes) -> None:
    """Speed-up of a batch on two threads against that of a loop which shares nothing."""
    import os

    import farfield as ff
    from farfield import _core

    model, parameters = ff.load(ant_file())
    state, _ = saved_state(model, parameters, seed=1)
    generator = np.random.default_rng(3)
    controls = [0.1 * generator.standard_normal((BATCH_STEPS, model.num_controls)) for _ in range(BATCH)]
    partials = [generator.standard_normal((BATCH_STEPS + 1, model.num_dofs)) for _ in range(BATCH)]

    def batch(threads: int):
        trajectories = ff.rollout_batch(
            model, [parameters], [state] * BATCH, controls, dt=DT, contact=None, threads=threads
        )
        return ff.rollout_vjp_batch(trajectories, dL_dq=partials, threads=threads)

    one, two = ([gradient.controls for gradient in batch(threads)] for threads in (1, 2))
    if not all(np.array_equal(a, b) for a, b in zip(one, two, strict=True)):
        raise RuntimeError("bench step: the batch has other bits on two threads than on one")
    hashes["batch"] = result_hash(one)
    peers = {}
    for threads in (1, 2):
        peers[f"spin, threads {threads}"] = (lambda t=threads: _core._benchmark_spin(rounds=SPIN_ROUNDS, threads=t), 1)
        peers[f"batch, threads {threads}"] = (lambda t=threads: batch(t), BATCH * BATCH_STEPS)
    found = take_turns(
        peers, repeats=BATCH_REPEATS, clock=time.perf_counter, tick=progress("two threads", BATCH_REPEATS + 1)
    )
    timings.update(found)
    speed_up = {
        kind: found[f"{kind}, threads 1"].minimum / found[f"{kind}, threads 2"].minimum for kind in ("spin", "batch")
    }
    enough = (os.cpu_count() or 1) >= 2
    note = f"batch {speed_up['batch']:.3g}, spin {speed_up['spin']:.3g}" + ("" if enough else "; needs two cores")
    value = speed_up["batch"] / speed_up["spin"] if enough else None
    checks.append(Check("two-thread speed-up: batch / spin", value, ">=", 0.9, note))


def chain(links: int):
    """A chain of equal links on hinges whose axes alternate."""
    import farfield as ff

    scene = ff.Scene(name=f"chain of {links} links", gravity=[0.0, 0.0, -9.81])
    rod = ff.Moments.from_inertia(mass=1.0, center=[0.0, 0.0, -0.1], inertia=np.diag([4e-3, 4e-3, 1e-3]))
    parent = 0
    for k in range(links):
        parent = scene.add_body(name=f"link {k}", parent=parent, position=[0.0, 0.0, -0.2 if k else 0.0], moments=rod)
        scene.add_joint(parent, name=f"joint {k}", type="hinge", axis=[1.0, 0.0, 0.0] if k % 2 else [0.0, 1.0, 0.0])
    return ff.build_model(scene)


def measure_assembly(progress, timings, checks, hashes) -> None:
    """Gradient and Hessian of the incremental potential."""
    import farfield as ff
    from farfield import _core

    models = {f"chain of {links} links": chain(links) for links in CHAIN_LINKS}
    models["chain14.xml"], _ = ff.load(scene_file("chain14.xml"))
    samples: dict[str, list[float]] = {name: [] for name in models}
    sums = []
    tick = progress("assembly of gradient and Hessian", REPEATS)
    for _ in range(REPEATS):
        for name, model in models.items():
            parameters, state = model.default_parameters(), swinging_state(model)
            seconds, total = _core._benchmark_assembly(model, parameters, state, dt=DT, repeats=ASSEMBLY_REPEATS)
            samples[name].append(seconds)
            if len(samples[name]) == 1:
                sums.append(total)
        tick()
    hashes["assembly"] = result_hash(sums)
    found = {name: Timing(min(times), float(np.median(times)), REPEATS) for name, times in samples.items()}
    timings.update({f"assembly, {name}": timing for name, timing in found.items()})
    times = [found[f"chain of {links} links"].minimum for links in CHAIN_LINKS]
    exponent = float(np.polyfit(np.log(CHAIN_LINKS), np.log(times), 1)[0])
    per_link = ", ".join(f"{1e9 * seconds / links:.0f}" for seconds, links in zip(times, CHAIN_LINKS, strict=True))
    links = ", ".join(map(str, CHAIN_LINKS))
    checks.append(
        Check("assembly: exponent in links", exponent, "<=", 1.25, f"{per_link} ns per link at {links} links")
    )
    for name in ("chain of 14 links", "chain14.xml"):
        ratio = found[name].minimum / PROTOTYPE_ASSEMBLY
        checks.append(Check(f"assembly, {name} / {1e6 * PROTOTYPE_ASSEMBLY:g} us", ratio, "<=", 1.5))


def swinging_state(model):
    """The default state moved a little along every degree of freedom, and moving."""
    import farfield as ff

    start = model.default_state()
    wave = np.sin(1.0 + np.arange(model.num_dofs) * math.sqrt(2.0))
    return ff.State(q=ff.retract(model, start.q, 0.2 * wave), v=wave)
