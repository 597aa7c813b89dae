# SPDX-License-Identifier: Apache-2.0
"""Any contact model for any scene, by name."""

from __future__ import annotations

import json

import numpy as np
import pytest

import farfield as ff
from farfield import cli

MODELS = {
    "longrange": ff.LongRange,
    "polyhedral": ff.Polyhedral,
    "ipc": ff.Ipc,
    "ipc-global": ff.IpcGlobal,
    "softmin": ff.Softmin,
}
DT = {"softmin": 1e-3}  # explicit steps are short


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("scene", ["scenes/push.xml", "scenes/wall_spin.xml"])
def test_a_name_stands_for_a_model_with_its_defaults(name, scene):
    model, parameters = ff.load(scene)
    state = model.default_state()
    controls = np.tile(model.default_control(), (3, 1))
    dt = DT.get(name, 0.01)
    trajectory = ff.rollout(model, parameters, state, controls, contact=name, dt=dt)
    assert trajectory.converged
    assert trajectory.min_gap > 0.0 or name == "softmin"
    made = ff.rollout(model, parameters, state, controls, contact=MODELS[name](), dt=dt)
    assert trajectory.contact == made.contact
    assert np.array_equal(trajectory.q, made.q)
    batch = ff.rollout_batch(model, [parameters], [state], [controls], contact=name, dt=dt)
    assert np.array_equal(batch[0].q, made.q)


@pytest.mark.parametrize("name", MODELS)
def test_the_command_line_takes_every_name(name, capsys, tmp_path):
    assert (
        cli.main(
            [
                "simulate",
                "scenes/wall_spin.xml",
                "--steps",
                "5",
                "--contact",
                name,
                "--out",
                str(tmp_path),
                "--json",
                "--quiet",
            ]
        )
        == 0
    )
    assert json.loads(capsys.readouterr().out)["converged"] is True


def test_an_unknown_name_lists_those_there_are(capsys):
    model, parameters = ff.load("scenes/wall_spin.xml")
    with pytest.raises(
        ValueError, match="'glue' is unknown, expected one of: longrange, polyhedral, ipc, ipc-global, softmin"
    ):
        ff.rollout(model, parameters, model.default_state(), np.zeros((1, 0)), contact="glue")
    assert cli.main(["simulate", "scenes/wall_spin.xml", "--contact", "glue"]) == 2
    assert "'glue' is unknown" in capsys.readouterr().err
