# SPDX-License-Identifier: Apache-2.0
"""`farfield scorecard`: the page that is kept is that of the recorded results, and what does not hold is said."""

import json
import re
import shutil
from pathlib import Path

import pytest

from command_line import exit_code
from farfield.experiments import scorecard

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_that_is_kept_is_made_of_the_recorded_results():
    assert (DOCS / "scorecard.html").read_text(encoding="utf-8") == scorecard.page(scorecard.sections(DOCS / "data"))


def test_links_to_rows_lead_somewhere():
    marks = set(re.findall(r'id="([^"]+)"', (DOCS / "scorecard.html").read_text(encoding="utf-8")))
    links = [
        link
        for page in (DOCS.parent / "README.md", *DOCS.glob("*.md"))
        for link in re.findall(r"scorecard\.html#([\w-]+)", page.read_text(encoding="utf-8"))
    ]
    assert len(links) >= 5 and set(links) <= marks


def test_the_page_needs_nothing_from_elsewhere():
    text = (DOCS / "scorecard.html").read_text(encoding="utf-8")
    assert not re.search(r"(?:src|href)=|@import|url\(|<script", text)
    assert text.count("<svg") == text.count("</svg>") == 4


def test_what_no_longer_holds_is_said(tmp_path, capsys):
    data = tmp_path / "data"
    shutil.copytree(DOCS / "data", data)
    rows = json.loads((data / "corpus_rigid.json").read_text())
    rows[0]["intersection"] = "'a' and 'b'"
    (data / "corpus_rigid.json").write_text(json.dumps(rows))
    assert exit_code("scorecard", "--data", data, "--out", tmp_path / "page.html", "--json", "--quiet") == 0
    told = {row["mark"]: row for row in json.loads(capsys.readouterr().out)}
    assert told["rigid-longrange"]["holds"] is False and "1 intersections" in told["rigid-longrange"]["measured"]
    assert told["speed-ant"]["holds"] is None
    assert 'id="rigid-longrange"' in (tmp_path / "page.html").read_text()


@pytest.mark.parametrize(
    ("text", "said"),
    [(None, "no such file, expected recorded results"), ("[]", "no rows"), ('[{"id": 1}]', "id is 1, expected text")],
)
def test_results_that_are_missing_or_of_another_form_are_named(tmp_path, capsys, text, said):
    data = tmp_path / "data"
    shutil.copytree(DOCS / "data", data)
    (data / "speed.json").unlink()
    if text is not None:
        (data / "speed.json").write_text(text)
    assert exit_code("scorecard", "--data", data, "--out", tmp_path / "page.html") == 2
    line = capsys.readouterr().err
    assert said in line and "speed.json" in line and line.count("\n") == 1
