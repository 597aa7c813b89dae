# SPDX-License-Identifier: Apache-2.0
"""The benchmarks beside MuJoCo measure what they say, at a small size."""

from farfield.benchmarks import batch, contact


def silent(text, turns):
    return lambda: None


def test_contact_beside_mujoco(monkeypatch):
    monkeypatch.setattr(contact, "STEPS", 8)
    monkeypatch.setattr(contact, "REPEATS", 1)
    monkeypatch.setattr(contact, "SCENES", dict(list(contact.SCENES.items())[:2]))
    found = contact.run(silent)
    single, stack = found["rows"]
    assert all(single[f"{name} [us]"] > 0.0 for name in (*contact.MODELS, "MuJoCo"))
    assert stack["softmin [us]"] is None or stack["softmin [us]"] > 0.0  # explicit steps may be too long
    assert stack["overlap in MuJoCo [mm]"] >= 0.0
    assert len(found["hashes"]) >= 7


def test_batches_beside_mujoco(monkeypatch):
    monkeypatch.setattr(batch, "COUNT", 4)
    monkeypatch.setattr(batch, "STEPS", 5)
    monkeypatch.setattr(batch, "REPEATS", 1)
    first, second = batch.run(silent), batch.run(silent)
    assert first["hashes"] == second["hashes"] and len(first["rows"]) == 3
    assert all(row["ratio"] > 0.0 for row in first["rows"])
