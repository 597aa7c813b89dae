# SPDX-License-Identifier: Apache-2.0
"""A task of one's own: it ends at success, keeps what it came from, and says how to go on; options are compared."""

from __future__ import annotations

import argparse
import json
import re
from pathlib import Path

import pytest

import farfield as ff
from farfield.cli import main
from farfield.commands.compare import add_arguments, make_plan
from farfield.commands.run import _print_summary
from farfield.experiments import runner
from farfield.experiments.compare import run_directory
from farfield.experiments.registry import find_task

TUTORIAL = Path(__file__).parents[2] / "docs" / "tutorial_task.md"


@pytest.fixture
def task_file(tmp_path):
    """The tutorial's task by L-BFGS, with a loss that never gets to zero: only its success can end it."""
    (code,) = re.findall(r"```python\n(.*?)```", TUTORIAL.read_text(), flags=re.DOTALL)
    code = code.replace("import Adam,", "import Adam, Lbfgs,").replace(
        "Multistart(\n                objective, [start.initial()], lambda: Adam(0.05, groups=[[0, 1]]), rounds\n            )",
        "Lbfgs(objective, start.initial(), iterations=self.iterations)",
    )
    code = code.replace("loss=loss,", 'loss=ReachLoss(["puck"], [spot], radius=0.0, when="end"),')
    path = tmp_path / "nudge.py"
    path.write_text(code)
    return path


def test_it_ends_at_success_and_keeps_its_sources(task_file, tmp_path, capsys):
    folder = tmp_path / "run"
    assert main(["run", str(task_file), "--out", str(folder), "--quiet", "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert result["success"]
    assert result["complete"]
    assert result["loss_final"] > 0.0
    assert result["iterations"] < 30
    assert (folder / "nudge.py").read_bytes() == task_file.read_bytes()
    model, _ = ff.load_model(folder / "model.safetensors")
    assert model.body_names == ["world", "block", "puck"]
    again = main(["run", str(task_file), "--resume", "--out", str(folder), "--quiet", "--json"])
    assert again == 0
    assert json.loads(capsys.readouterr().out)["iterations"] == result["iterations"]
    task_file.write_text(task_file.read_text() + "\n# edited\n")
    assert main(["run", str(task_file), "--resume", "--out", str(folder), "--quiet"]) == 2
    assert "has changed since" in capsys.readouterr().err


def test_the_line_that_goes_on_names_the_file(task_file, tmp_path, capsys):
    run = runner.start(find_task(str(task_file))(), seed=0, out=tmp_path / "run")
    assert not runner.execute(run, quiet=True, stop_after=2)
    arguments = argparse.Namespace(task=str(task_file), method=None)
    _print_summary(runner.finish(run), run, arguments)
    told = " ".join(capsys.readouterr().err.split())
    assert f"farfield run {task_file} --resume --out {tmp_path / 'run'}" in told


def test_values_of_an_option_are_compared(tmp_path):
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    words = ["push", "--vary", "friction=0.2,0.4", "--methods", "longrange,ipc", "--seeds", "1", "--set", "frames=50"]
    plan = make_plan(parser.parse_args(words))
    names = [f"{entry} friction={value}" for value in ("0.2", "0.4") for entry in ("longrange", "ipc")]
    assert list(plan.entries) == names
    assert [plan.task_of(name).friction for name in names] == [0.2, 0.2, 0.4, 0.4]
    assert {plan.task_of(name).frames for name in names} == {50}
    assert plan.entries["ipc friction=0.4"].contact == "ipc"
    assert len({run_directory(tmp_path, entry, start, seed) for entry, start, seed in plan.jobs()}) == len(plan.jobs())
    for wrong, message in (("friction", "expected option=value"), ("grip=1,2", "option 'grip' is unknown")):
        with pytest.raises(ValueError, match=message):
            make_plan(parser.parse_args(["push", "--vary", wrong]))
