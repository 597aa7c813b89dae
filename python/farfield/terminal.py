# SPDX-License-Identifier: Apache-2.0
"""What commands show while they work and when they end: a progress line and tables, on standard error."""

from __future__ import annotations

import shutil
import sys
import textwrap
import threading
import time
import unicodedata
from collections.abc import Sequence
from types import TracebackType

INTERVAL = 0.1  # s between two pictures of the line in a terminal
LOG_INTERVAL = 30.0  # s between two lines in a file, where nothing is drawn over
NARROWEST = 8  # letters of a column that has to give way
BAR = 20  # letters of the bar


def width_of(text: str) -> int:
    """Columns that a text takes in a terminal."""
    return sum(
        0 if unicodedata.combining(letter) else 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        for letter in text
    )


def duration(seconds: float) -> str:
    """Hours, minutes and seconds, as 1:02:03 or 02:03."""
    hours, rest = divmod(round(seconds), 3600)
    clock = f"{rest // 60:02d}:{rest % 60:02d}"
    return f"{hours}:{clock}" if hours else clock


class ProgressBar:
    """How far something is: a line that is drawn over in a terminal, or a line every half minute in a file.

    total: turns until the end, None when nobody knows. Safe to tell from several threads.
    """

    def __init__(
        self,
        description: str = "",
        total: int | None = None,
        *,
        done: int = 0,
        unit: str = "it",
        quiet: bool = False,
        keep: bool = False,
    ) -> None:
        self.description, self.total, self.done, self.unit, self.note = description, total, done, unit, ""
        self._quiet, self._keep, self._first = quiet, keep, done
        self._stream = sys.stderr
        self._terminal = self._stream.isatty()
        self._lock = threading.Lock()
        self._begun = self._shown = time.monotonic()
        self._drawn = 0  # letters that stand in the terminal
        if not quiet and self._terminal:
            self._draw()

    def __enter__(self) -> ProgressBar:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def update(self, count: int = 1) -> None:
        """So many more turns are done; 0 only draws."""
        with self._lock:
            self.done += count
            now = time.monotonic()
            if not self._quiet and now - self._shown >= (INTERVAL if self._terminal else LOG_INTERVAL):
                self._shown = now
                self._draw()

    def describe(self, text: str) -> None:
        """What is being done now, before the bar."""
        self.description = text
        self.update(0)

    def tell(self, text: str) -> None:
        """Figures behind the bar."""
        self.note = text
        self.update(0)

    def close(self) -> None:
        """The line goes, or stays when it is to be kept."""
        if self._quiet:
            return
        with self._lock:
            if self._keep or (not self._terminal and self._shown > self._begun):
                self._draw()
            if self._terminal:
                self._stream.write("\n" if self._keep else "\r" + " " * self._drawn + "\r")
                self._stream.flush()
        self._quiet = True

    def line(self) -> str:
        """The line as it is now."""
        spent = time.monotonic() - self._begun
        turns = self.done - self._first
        times = duration(spent)
        parts = [f"{self.description}:" if self.description else ""]
        if self.total is None:
            parts.append(f"{self.done:,} {self.unit}")
        else:
            share = min(1.0, self.done / self.total) if self.total else 1.0
            full = round(BAR * share)
            parts += [f"{100 * share:3.0f}%", "█" * full + "·" * (BAR - full), f"{self.done:,}/{self.total:,}"]
            if turns > 0:
                times += f"<{duration(spent / turns * max(0, self.total - self.done))}"
        if turns > 0:
            pace = spent / turns
            times += f", {pace:.2f} s/{self.unit}" if pace > 1.0 else f", {1.0 / max(pace, 1e-9):,.1f} {self.unit}/s"
        parts.append(f"[{times}]")
        return " ".join(part for part in (*parts, self.note) if part)

    def _draw(self) -> None:
        text = self.line()
        if not self._terminal:
            self._stream.write(text + "\n")
        else:
            text = text[: max(1, shutil.get_terminal_size().columns - 1)]
            self._stream.write("\r" + text + " " * max(0, self._drawn - len(text)))
            self._drawn = len(text)
        self._stream.flush()


class Table:
    """Rows in a frame. A column that begins with ">" stands on the right; without columns there is no head.

    In a terminal that is too narrow the widest column is broken into lines; in a file it is not.
    """

    def __init__(self, title: str = "", columns: Sequence[str] = ()) -> None:
        self.title = title
        self._right = [name.startswith(">") for name in columns]
        self._head = [name.removeprefix(">") for name in columns]
        self._rows: list[list[str]] = []

    def row(self, *cells: str) -> None:
        """A row at the end."""
        self._rows.append(list(cells))

    def text(self, columns: int | None = None) -> str:
        """The table, at most so many letters wide; as wide as it needs when None."""
        rows = [self._head, *self._rows] if self._head else self._rows
        count = max((len(row) for row in rows), default=0)
        cells = [[cell.split("\n") for cell in [*row, *[""] * (count - len(row))]] for row in rows]
        widths = [max((width_of(line) for row in cells for line in row[k]), default=0) for k in range(count)]
        while columns is not None and sum(widths) + 3 * count + 1 > columns and max(widths, default=0) > NARROWEST:
            widest = widths.index(max(widths))
            widths[widest] = max(NARROWEST, columns - 3 * count - 1 - (sum(widths) - widths[widest]))
            for row in cells:
                row[widest] = [part for line in row[widest] for part in textwrap.wrap(line, widths[widest]) or [""]]
        right = self._right + [False] * (count - len(self._right))
        lines = [self.title] if self.title else []
        lines.append("┌" + "┬".join("─" * (width + 2) for width in widths) + "┐")
        for index, row in enumerate(cells):
            lines += self._lines(row, widths, right)
            if index == 0 and self._head:
                lines.append("├" + "┼".join("─" * (width + 2) for width in widths) + "┤")
        lines.append("└" + "┴".join("─" * (width + 2) for width in widths) + "┘")
        return "\n".join(lines)

    @staticmethod
    def _lines(row: list[list[str]], widths: list[int], right: list[bool]) -> list[str]:
        lines = []
        for k in range(max(map(len, row), default=0)):
            parts = []
            for cell, width, to_right in zip(row, widths, right, strict=True):
                text = cell[k] if k < len(cell) else ""
                gap = " " * (width - width_of(text))
                parts.append(f" {gap}{text} " if to_right else f" {text}{gap} ")
            lines.append("│" + "│".join(parts) + "│")
        return lines


def show(*parts: Table | str) -> None:
    """Tables and lines, on standard error."""
    columns = shutil.get_terminal_size().columns if sys.stderr.isatty() else None
    text = "\n".join(part.text(columns) if isinstance(part, Table) else part for part in parts)
    encoding = sys.stderr.encoding or "utf-8"
    sys.stderr.write(text.encode(encoding, errors="replace").decode(encoding) + "\n")
    sys.stderr.flush()
