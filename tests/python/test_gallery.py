# SPDX-License-Identifier: Apache-2.0
"""The gallery's scenes, on the robot that an installed package brings."""

from __future__ import annotations

from farfield.experiments import corpus, gallery


def test_a_gallery_robot_stands():
    (entry,) = [entry for entry in gallery.ENTRIES if entry.name == "Humanoid"]
    path = gallery.find(entry, corpus.package_folders(["gymnasium"]))
    row, act = gallery.show(entry, path)
    assert act is not None and row["good"], row
    assert row["gradient_error"] <= max(1e-5, 10.0 * row["gradient_noise"]), row
    assert "Humanoid" in gallery.page([row], "gallery.png")
