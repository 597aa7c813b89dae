# SPDX-License-Identifier: Apache-2.0
"""`farfield bench sensitivity`: planning that ends with success, horizons that last as long for every time step, and its options."""

import json

import pytest

from command_line import exit_code
from farfield.benchmarks import sensitivity
from farfield.benchmarks.sensitivity import Options, plan_until_success
from farfield.tasks.push import Push


def test_planning_ends_with_the_first_frame_that_passes():
    easy = Push(radius=5.0, plan_radius=0.01, horizon=4, iterations=1, frames=6)
    found = plan_until_success(easy, 0, "longrange")
    assert found.time == pytest.approx(0.04) and len(found.losses) == 1 and not found.cut_off
    hard = Push(horizon=4, iterations=1, frames=3)
    ticks = []
    found = plan_until_success(hard, 0, "ipc", tick=lambda: ticks.append(1))
    assert found.time is None and len(found.losses) == len(ticks) == 3 and not found.cut_off
    assert plan_until_success(hard, 0, "ipc", seconds=0.0).cut_off is True


def test_horizon_and_duration_last_as_long_for_every_time_step():
    for dt, iterations in ((0.01, 3), (0.02, 5), (0.04, 10), (0.08, 20)):
        task = sensitivity._push(Options(), dt, 1e-7)
        assert task.horizon * dt == pytest.approx(48 * 0.04) and task.frames * dt == pytest.approx(8.0)
        assert (task.dt, task.weight, task.iterations) == (dt, 1e-7, iterations)


def test_rows_stand_beside_the_papers_numbers(capsys, tmp_path):
    quick = [part for text in ("seeds=1", "frames=1", "tasks=push") for part in ("--set", text)]
    figure = tmp_path / "curves.png"
    assert exit_code("bench", "sensitivity", *quick, "--set", f"figure={figure}", "--json", "--quiet") == 1
    report = json.loads(capsys.readouterr().out)
    rows = {(row["study"], row["setting"]): row for row in report["rows"]}
    assert rows["time_step", "0.01 s"]["paper"] == 5.76 and rows["weight", "1e-10 J"]["paper"] == 4.80
    assert len(rows) == 4 + 4 + 2
    assert all(row["reached"] == "0 of 1" and row["median"] is None for row in rows.values())  # one frame is too short
    assert len(report["checks"]) == 8 and not any(check["passed"] for check in report["checks"])
    assert set(report["curves"]) == {"push longrange", "push ipc-global"}
    assert figure.stat().st_size > 10_000


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ("studies=speed", "option studies: 'speed', expected some of: time_step, weight, smoothness"),
        ("weights=1e-6,x", "option weights: '1e-6,x', expected numbers > 0"),
        ("time_steps=0", "option time_steps: '0', expected numbers > 0"),
        ("tasks=push,fly", "task 'fly' is unknown"),
        ("seeds=0", "option seeds: 0, expected > 0"),
        ("speed=1", "option 'speed' is unknown; sensitivity has: seeds, studies"),
    ],
)
def test_mistakes_are_one_line(capsys, settings, said):
    assert exit_code("bench", "sensitivity", "--set", settings, "--quiet") == 2
    output = capsys.readouterr()
    assert said in output.err and output.err.count("\n") == 1


def test_benchmarks_without_options_say_so(capsys):
    assert exit_code("bench", "grids", "--set", "seeds=1", "--quiet") == 2
    assert "--set seeds=1: benchmark 'grids' has no options" in capsys.readouterr().err
