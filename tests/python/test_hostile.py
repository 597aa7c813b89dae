# SPDX-License-Identifier: Apache-2.0
"""Damaged files and arguments end in one line that names the user's file, in time and within bounds of memory; see hostile.py."""

import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import farfield as ff
from farfield.importers import SceneFileError, load_scene
from farfield.reading import BadFile, read_arrays, read_json, require, seal

SCRIPT = Path(__file__).with_name("hostile.py")


def faults(*arguments: str) -> tuple[int, list]:
    """How many cases were run, and what was wrong with some."""
    command = [sys.executable, str(SCRIPT), "--json", *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.stdout, done.stderr[-2000:]
    result = json.loads(done.stdout)
    return result["cases"], result["faults"]


def test_damaged_files_and_arguments():
    kinds = [word for kind in ("shape", "mesh", "run", "grains") for word in ("--kind", kind)]
    assert faults("--count", "36", "--seed", "5", *kinds) == (36, [])


def test_bombs_and_traps():
    cheap = "shape|of a terabyte|billion grains|device|folder|pipe|deeply|says a billion|height field of 100000 squared$|body at 1e308|program"
    count, wrong = faults("--kind", "specials", "--only", cheap)
    assert wrong == []
    assert count > 20


@pytest.mark.long
@pytest.mark.parametrize("seed", range(4))
def test_many_damaged_files_and_arguments(seed):
    assert faults("--count", "300", "--seed", str(100 + seed)) == (300, [])


@pytest.mark.long
def test_all_bombs_and_traps():
    assert faults("--kind", "specials")[1] == []


FORM = {"name": str, "size?": float, "parts": [{"count": (int, None)}]}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ([], r"\[\], expected an object"),
        ({"parts": []}, "name is missing, expected text"),
        ({"name": "a", "parts": {}}, r"parts is \{\}, expected a list"),
        ({"name": "a", "size": True, "parts": []}, "size is true, expected a number"),
        ({"name": "a", "size": "1", "parts": []}, 'size is "1", expected a number'),
        (
            {"name": "a", "parts": [{"count": 1}, {"count": 1.5}]},
            r"parts\[1\].count is 1.5, expected a whole number or null",
        ),
    ],
)
def test_documents_of_another_form_are_named_with_place_value_and_expectation(value, said):
    with pytest.raises(BadFile, match=f"^a.json: {said}$"):
        require("a.json", value, FORM)
    require("a.json", {"name": "a", "size": 1, "parts": [{"count": None}], "more": 1}, FORM)


def test_text_that_is_no_json_names_its_place(tmp_path):
    file = tmp_path / "a.json"
    file.write_text('{"a": 1,\n "b" 2}')
    with pytest.raises(BadFile, match=r"a\.json: not readable JSON \(.*line 2"):
        read_json(file)
    file.write_bytes(b'{"a": "\xff"}')
    with pytest.raises(BadFile, match=r"a\.json: byte 7 is no UTF-8 text"):
        read_json(file)


def test_arrays_that_were_changed_are_known_by_their_digest(tmp_path):
    file = tmp_path / "a.npz"
    arrays = seal({"x": np.arange(4.0), "y": np.array(3)})
    np.savez(file, **arrays)
    assert set(read_arrays(file, sealed=True)) == {"x", "y"}
    np.savez(file, **(arrays | {"y": np.array(4)}))
    with pytest.raises(BadFile, match="do not agree with their digest"):
        read_arrays(file)
    np.savez(file, x=np.arange(4.0))
    assert set(read_arrays(file)) == {"x"}
    with pytest.raises(BadFile, match="has no digest"):
        read_arrays(file, sealed=True)


SPHERE = '<mujoco><worldbody><body name="ball" pos="{}"><freejoint/><geom size="0.1" mass="{}"/></body>{}</worldbody></mujoco>'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (SPHERE.format("1e308 0 0", 1, ""), r"body 'ball': pos 1e\+308, expected at most 1e\+09 m"),
        (SPHERE.format("0 0 0", 1e308, ""), r"body 'ball': mass 1e\+308, expected at most 1e\+30 kg"),
        (
            SPHERE.format(
                "0 0 0", 1, '<replicate count="2000"><replicate count="2000"><site/></replicate></replicate>'
            ),
            "elements with all copies",
        ),
    ],
)
def test_sizes_beyond_all_reckoning_are_refused_by_name(tmp_path, text, said):
    file = tmp_path / "a.xml"
    file.write_text(text)
    with pytest.raises(SceneFileError, match=rf"a\.xml: .*{said}"):
        load_scene(file)


def test_errors_about_a_scene_name_its_file(tmp_path):
    file = tmp_path / "a.xml"
    file.write_text(
        SPHERE.format("0 0 0", 1, "").replace("<geom", '<geom type="box" size="0 1 1"').replace(' size="0.1"', "")
    )
    with pytest.raises(ValueError, match=r"a\.xml: "):
        ff.load(file)
