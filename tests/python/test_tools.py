# SPDX-License-Identifier: Apache-2.0
"""The checks of tools/ pass on this tree and fail on bad samples."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools"))

import check_citations  # noqa: E402
import check_includes  # noqa: E402
import compare_trees  # noqa: E402
import regression  # noqa: E402
import run_tests  # noqa: E402


def write(root, files):
    for name, text in files.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


# ---- include order --------------------------------------------------------------------------------------------------


def test_includes_of_this_tree():
    errors, count = check_includes.check(ROOT)
    assert errors == []
    assert count > 0


@pytest.mark.parametrize(
    ("source", "target", "message"),
    [
        ("base/a.hpp", "math/b.hpp", "includes go strictly down"),
        ("geometry/a.hpp", "optim/b.hpp", "includes go strictly down"),  # equal rank is not down
        ("contact/ipc/a.cpp", "dynamics/b.hpp", "includes go strictly down"),
        ("contact/ipc/a.cpp", "contact/longrange/b.hpp", "sibling contact/longrange"),
        ("contact/softmin/deep/a.cpp", "contact/polyhedral/b.hpp", "sibling contact/polyhedral"),
        ("contact/a.hpp", "contact/ipc/b.hpp", "base of contact includes the model contact/ipc"),
        ("contact/plane_friction/a.hpp", "contact/softmin/b.hpp", "base of contact"),
        ("grains/a.hpp", "contact/b.hpp", "grains never includes contact"),
        ("cellar/a.hpp", "base/b.hpp", "unknown room 'cellar'"),
        ("contact/attic/a.hpp", "contact/b.hpp", "unknown contact folder 'attic'"),
    ],
)
def test_bad_include_is_found(tmp_path, source, target, message):
    write(tmp_path, {f"src/farfield/{source}": f'\n#include "farfield/{target}"\n', f"src/farfield/{target}": ""})
    errors, _ = check_includes.check(tmp_path)
    assert len(errors) == 1
    assert message in errors[0]
    assert f"src/farfield/{source}:2" in errors[0]


@pytest.mark.parametrize(
    ("source", "target"),
    [
        ("io/a.cpp", "base/b.hpp"),
        ("contact/ipc/a.cpp", "contact/ipc/b.hpp"),
        ("contact/ipc/a.cpp", "contact/b.hpp"),
        ("contact/longrange/a.cpp", "contact/plane_friction/b.hpp"),
        ("contact/plane_friction/a.hpp", "contact/b.hpp"),
        ("grains/a.cpp", "geometry/b.hpp"),
    ],
)
def test_good_include_passes(tmp_path, source, target):
    write(tmp_path, {f"src/farfield/{source}": f'#include "farfield/{target}"\n', f"src/farfield/{target}": ""})
    assert check_includes.check(tmp_path) == ([], 1)


def test_circle_of_files_is_found(tmp_path):
    names = ["a", "b", "c"]
    write(
        tmp_path,
        {
            f"src/farfield/math/{name}.hpp": f'#include "farfield/math/{names[(i + 1) % 3]}.hpp"\n'
            for i, name in enumerate(names)
        },
    )
    errors, _ = check_includes.check(tmp_path)
    assert len(errors) == 1
    assert "a.hpp -> farfield/math/b.hpp -> farfield/math/c.hpp -> farfield/math/a.hpp" in errors[0]


def test_quotes_are_allowed_for_other_libraries(tmp_path):
    write(tmp_path, {"src/farfield/math/a.hpp": '#include "hwy/highway.h"\n#include <vector>\n'})
    assert check_includes.check(tmp_path) == ([], 0)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('#include "b.hpp"', "full path"),
        ("#include <farfield/base/b.hpp>", "quotes"),
        ('#include "farfield/base/none.hpp"', "does not exist"),
    ],
)
def test_bad_form_of_include_is_found(tmp_path, line, message):
    write(tmp_path, {"src/farfield/math/a.hpp": line, "src/farfield/base/b.hpp": ""})
    errors, _ = check_includes.check(tmp_path)
    assert len(errors) == 1
    assert message in errors[0]


# ---- imports of the Python package ----------------------------------------------------------------------------------


def python_tree(folder: Path, files: dict[str, str]) -> None:
    """A package of these modules; folders are packages."""
    packages = {f"python/farfield/{Path(name).parent}/__init__.py": "" for name in files}
    write(folder, packages | {f"python/farfield/{name}": text for name, text in files.items()})


@pytest.mark.parametrize(
    ("source", "text", "message"),
    [
        ("optimize/a.py", "from farfield.engines.b import x\n", "optimize (rank 1) imports engines (rank 2)"),
        ("optimize/a.py", "from farfield.engines import b\n", "optimize (rank 1) imports engines (rank 2)"),
        ("tasks/a.py", "def f():\n    import farfield.experiments.b\n", "a.py:2: tasks (rank 3) imports experiments"),
        ("optimize/a.py", "from farfield import gradcheck\n", "optimize (rank 1) imports gradcheck (rank 1)"),
        ("viewer/a.py", "from farfield.experiments.b import x\n", "viewer (rank 4) imports experiments (rank 4)"),
        ("tasks/a.py", "PLACE = 'farfield.commands.b:Run'\n", "tasks (rank 3) imports commands (rank 5)"),
        ("tasks/a.py", "from . import b\n", "write the full name"),
        ("tasks/a.py", "import farfield.tasks.missing\n", "farfield.tasks.missing does not exist"),
        ("attic/a.py", "import farfield.options\n", "unknown room 'attic'"),
    ],
)
def test_bad_import_is_found(tmp_path, source, text, message):
    others = {f"{room}/b.py": "" for room in ("engines", "experiments", "commands")}
    python_tree(tmp_path, {**others, "gradcheck.py": "", "options.py": "", source: text})
    (error,), _ = check_includes.check(tmp_path)
    assert message in error


def test_good_imports_pass(tmp_path):
    text = "import farfield as ff\nfrom farfield import _core\nfrom farfield.optimize import b\nimport numpy\n"
    python_tree(tmp_path, {"optimize/b.py": "", "engines/a.py": text, "cli.py": "NAMES = ['farfield.engines.a']\n"})
    assert check_includes.check(tmp_path) == ([], 4)


def test_import_circles_are_found_also_inside_functions(tmp_path):
    circle = {
        "tasks/a.py": "from farfield.tasks import b\n",
        "tasks/b.py": "def f():\n    from farfield.tasks.a import x\n",
    }
    python_tree(tmp_path, circle)
    errors, _ = check_includes.check(tmp_path)
    assert errors == ["include circle: farfield.tasks.a -> farfield.tasks.b -> farfield.tasks.a"]


# ---- citations ------------------------------------------------------------------------------------------------------

BIBLIOGRAPHY = "@article{Li2020,\n title = {x},\n}\n@misc{LongRange2026,\n}\n"


def test_citations_of_this_tree():
    errors, _ = check_citations.check(ROOT)
    assert errors == []


def test_every_source_model_has_an_entry():
    keys = check_citations.known_keys((ROOT / "docs" / "references.bib").read_text())
    assert {"LongRange2026", "SDRS2025", "SCM2025", "CEM2026", "Li2020", "Todorov2012"} <= set(keys)


def test_unknown_key_is_found(tmp_path):
    text = "/// Paper: [LongRange2026, Eq. (3)]\n/// and [Nobody2019, Eq. (1)] and [Li2020; Someone2021, Sec. 2]\n"
    write(tmp_path, {"docs/references.bib": BIBLIOGRAPHY, "src/farfield/math/a.hpp": text})
    errors, count = check_citations.check(tmp_path)
    assert count == 4
    assert [error.split(" is not")[0] for error in errors] == [
        "src/farfield/math/a.hpp:2: [Nobody2019]",
        "src/farfield/math/a.hpp:2: [Someone2021]",
    ]


def test_key_given_twice_is_found(tmp_path):
    write(tmp_path, {"docs/references.bib": BIBLIOGRAPHY + "@misc{Li2020,\n}\n"})
    errors, _ = check_citations.check(tmp_path)
    assert errors == ["docs/references.bib: key Li2020 appears twice"]


def test_units_and_indices_are_no_citations():
    assert check_citations.cited_keys("energy [J], mass [kg], row [Index], points[N2020x]") == []


# ---- counting -------------------------------------------------------------------------------------------------------


def test_counts_of_the_cpp_runner():
    line = "[doctest] test cases: 12 | 10 passed | 2 failed | 3 skipped\n"
    assert run_tests.parse_doctest(1, line) == run_tests.Count(passed=10, failed=2)
    crash = "[doctest] test cases: 12 | 12 passed | 0 failed | 0 skipped\n"
    assert run_tests.parse_doctest(1, crash).failed == 1  # a leak reported after the last test
    assert run_tests.parse_doctest(-11, "Segmentation fault") == run_tests.Count(failed=1)


def test_counts_of_the_python_runner(tmp_path):
    report = tmp_path / "report.xml"
    assert run_tests.parse_junit(2, report) == run_tests.Count(failed=1)
    report.write_text('<testsuites><testsuite tests="7" failures="1" errors="1" skipped="2"/></testsuites>')
    assert run_tests.parse_junit(1, report) == run_tests.Count(passed=3, failed=2, skipped=2)


# ---- regression figures ---------------------------------------------------------------------------------------------


def test_bits_are_compared_on_the_same_target_only(capsys, monkeypatch):
    here = {"processor": "x86_64", "simd": "AVX3", "compiler": "GNU 12", "python": "3.11"}
    monkeypatch.setattr(regression, "machine", lambda: here)
    kept = {"a": {"hash": "1", "figures": {"q": 1.0}}, "b": {"hash": "1", "figures": {}}}
    now = {"a": {"hash": "2", "figures": {"q": 1.0 + 1e-9}}, "b": {"hash": "2", "figures": {}}}
    assert regression.compare({"machine": here | {"python": "3.12"}, "cases": kept}, now) == 2
    capsys.readouterr()
    assert regression.compare({"machine": here | {"simd": "AVX2"}, "cases": kept}, now) == 0
    said = capsys.readouterr().out
    assert "recorded with x86_64, AVX2, GNU 12, this is x86_64, AVX3, GNU 12" in said and "same figures" in said
    now["a"]["figures"]["q"] = 1.0 + 1e-4
    assert regression.compare({"machine": {"processor": "x86_64"}, "cases": kept}, now) == 1
    now["b"]["error"] = "gone"
    assert regression.compare({"machine": here, "cases": kept}, now) == 2


def test_a_tree_beside_itself_has_the_same_bits():
    (row,) = compare_trees.compare(ROOT, rounds=1, settings=["contact=polyhedral", "scenes=rest"])
    assert row["same_bits"] and row["evaluations"][0] == row["evaluations"][1]
    assert row["arrived"] == ["75/75", "75/75"]
    assert 0.2 < row["ratio"] < 5.0
