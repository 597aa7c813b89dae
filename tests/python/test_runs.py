# SPDX-License-Identifier: Apache-2.0
"""Run directories: complete files or none, clean JSON, readable after a crash."""

import json
import math
import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from farfield.experiments.runs import RunDir
from farfield.output import atomic_path, clean_json, dump_json


def make(tmp_path, **options):
    return RunDir.create("test", options=options, seed=3, root=tmp_path / "runs")


def test_json_holds_no_non_finite_numbers_and_no_numpy():
    @dataclass
    class Point:
        x: float
        where: Path

    value = {
        "nan": math.nan,
        "list": [math.inf, -math.inf, 1.5],
        "array": np.array([[1.0, np.nan]]),
        "numbers": (np.float32(0.5), np.int64(3), np.bool_(True)),
        "point": Point(math.nan, Path("a")),
        1: None,
    }
    text = dump_json(value)
    assert json.loads(text, parse_constant=lambda name: pytest.fail(name)) == {
        "nan": None,
        "list": [None, None, 1.5],
        "array": [[1.0, None]],
        "numbers": [0.5, 3, True],
        "point": {"x": None, "where": "a"},
        "1": None,
    }
    with pytest.raises(TypeError, match="object"):
        clean_json(object())


@pytest.mark.parametrize("crash", [RuntimeError, KeyboardInterrupt])
def test_a_crash_while_writing_keeps_the_old_file_and_leaves_nothing_behind(tmp_path, crash):
    target = tmp_path / "data.txt"
    target.write_text("old")
    with pytest.raises(crash), atomic_path(target) as temporary:
        temporary.write_text("half of the n")
        raise crash
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["data.txt"]
    with atomic_path(target) as temporary:
        temporary.write_text("new")
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert os.listdir(tmp_path) == ["data.txt"]


def test_files_get_ordinary_permissions(tmp_path):
    mask = os.umask(0o022)
    try:
        with atomic_path(tmp_path / "a.txt") as temporary:
            temporary.write_text("x")
    finally:
        os.umask(mask)
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o644


def test_a_crash_while_saving_arrays_keeps_the_old_ones(tmp_path, monkeypatch):
    run = make(tmp_path)
    run.write_arrays({"x": np.arange(3)})

    def crash(stream, **arrays):
        stream.write(b"PK half")
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez_compressed", crash)
    with pytest.raises(KeyboardInterrupt):
        run.write_arrays({"x": np.arange(4)})
    np.testing.assert_array_equal(run.read_arrays()["x"], np.arange(3))
    assert sorted(os.listdir(run.path)) == ["arrays.npz", "config.json"]


def test_config_says_what_a_result_depends_on(tmp_path):
    run = make(tmp_path, weight=math.inf, targets=np.array([1, 2]))
    config = json.loads((run.path / "config.json").read_text())
    assert config == RunDir.open(run.path).config
    assert config["options"] == {"weight": None, "targets": [1, 2]}
    assert config["seed"] == 3
    assert config["versions"]["numpy"] == np.__version__
    assert config["cpu"]
    assert {"commit", "platform", "cores", "created", "command"} <= set(config)


def test_two_runs_in_the_same_second_do_not_share_a_folder(tmp_path):
    paths = {make(tmp_path).path for _ in range(3)}
    assert len(paths) == 3
    assert RunDir.create("a/../b c", options={}, root=tmp_path / "runs").path.parent == tmp_path / "runs"


def test_metrics_survive_a_torn_last_line(tmp_path):
    run = make(tmp_path)
    assert run.read_metrics() == []
    run.append_metrics({"loss": 1.0})
    run.append_metrics({"loss": math.nan})
    file = run.file("metrics.jsonl")
    with file.open("a") as stream:
        stream.write('{"loss": 0.')
    assert run.read_metrics() == [{"loss": 1.0}, {"loss": None}]
    run.append_metrics({"loss": 0.25})
    assert run.read_metrics() == [{"loss": 1.0}, {"loss": None}, {"loss": 0.25}]
    file.write_text('{"loss": 1}\nrubbish\n{"loss": 2}\n')
    with pytest.raises(ValueError, match=r"metrics\.jsonl:2"):
        run.read_metrics()


def test_damaged_and_foreign_files_are_named(tmp_path):
    run = make(tmp_path)
    run.write_arrays({"x": np.arange(1000)})
    whole = run.file("arrays.npz").read_bytes()
    for damaged in (b"", whole[: len(whole) // 2], b"not a zip file"):
        run.file("arrays.npz").write_bytes(damaged)
        with pytest.raises(ValueError, match=r"arrays\.npz: not readable arrays"):
            run.read_arrays()
    np.savez(run.file("objects.npz"), x=np.array([{}], dtype=object))
    with pytest.raises(ValueError, match=r"objects\.npz: not readable arrays"):
        run.read_arrays("objects.npz")
    for text in ("{", "[]", '{"format": 99}'):
        run.file("config.json").write_text(text)
        with pytest.raises(ValueError, match=r"config\.json"):
            RunDir.open(run.path)
