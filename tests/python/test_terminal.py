# SPDX-License-Identifier: Apache-2.0
"""The progress line and tables of the commands."""

from __future__ import annotations

import io
import sys

import pytest

from farfield import terminal
from farfield.terminal import ProgressBar, Table, duration, show


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_table_lines_up():
    table = Table("title", ("name", ">value"))
    table.row("α", "1")
    table.row("longer\nname", "12.5")
    assert table.text().split("\n") == [
        "title",
        "┌────────┬───────┐",
        "│ name   │ value │",
        "├────────┼───────┤",
        "│ α      │     1 │",
        "│ longer │  12.5 │",
        "│ name   │       │",
        "└────────┴───────┘",
    ]


def test_a_narrow_terminal_breaks_the_widest_column():
    table = Table(columns=("a", "b"))
    table.row("short", "many words that do not fit into the place there is")
    lines = table.text(30).split("\n")
    assert {len(line) for line in lines} <= {len(lines[0])} and len(lines[0]) <= 30
    told = " ".join(line.split("│")[2].strip() for line in lines if line.startswith("│"))
    assert told == "b many words that do not fit into the place there is"
    assert max(map(len, table.text().split("\n"))) > 30  # a file gets whole lines


def test_a_table_of_nothing():
    assert Table("empty").text() == "empty\n┌┐\n└┘"


def test_letters_that_a_terminal_cannot_show_are_replaced(monkeypatch):
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stderr", io.TextIOWrapper(raw, encoding="ascii"))
    show("gap ≥ 1")
    assert raw.getvalue() == b"gap ? 1\n"


def test_the_line_tells_share_and_time(monkeypatch):
    now = [100.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(sys, "stderr", Terminal())
    with ProgressBar("push", 40, done=10, unit="it") as bar:
        now[0] += 5.0
        bar.note = "loss 1"
        bar.update(10)
        assert bar.line() == "push:  50% " + "█" * 10 + "·" * 10 + " 20/40 [00:05<00:10, 2.0 it/s] loss 1"
    shown = sys.stderr.getvalue()
    assert "20/40" in shown and shown.endswith("\r") and "\n" not in shown


def test_without_a_total_it_counts(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    bar = ProgressBar(unit="check")
    bar.describe("gap 1 m")
    bar.update(3)
    assert bar.line().startswith("gap 1 m: 3 check [00:00, ")
    bar.close()


def test_a_file_gets_few_lines(monkeypatch):
    now = [0.0]
    monkeypatch.setattr(terminal.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(sys, "stderr", io.StringIO())
    with ProgressBar("soak", 100) as bar:
        for _ in range(100):
            now[0] += 1.0
            bar.update()
    lines = sys.stderr.getvalue().splitlines()
    assert [line.split()[3] for line in lines] == ["30/100", "60/100", "90/100", "100/100"]


def test_quiet_is_silent(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with ProgressBar("push", 3, quiet=True) as bar:
        bar.update(3)
    assert sys.stderr.getvalue() == "" and bar.done == 3


@pytest.mark.parametrize(("seconds", "text"), [(0.4, "00:00"), (83.0, "01:23"), (3723.0, "1:02:03")])
def test_durations(seconds, text):
    assert duration(seconds) == text
