# SPDX-License-Identifier: Apache-2.0
"""The benchmark of rotating chains: links meet, both models converge, and the row says what it cost."""

from farfield.benchmarks import chains


def test_neighbouring_chains_meet_and_both_models_are_timed():
    result = chains.run(lambda text, turns: lambda: None, links=(4,), repeats=1)
    row = result["rows"][0]
    assert row["degrees_of_freedom"] == 2 * 4 * chains.CHAINS
    for name in ("polyhedral", "ipc"):
        assert row[f"{name}_converged"] is True
        assert 0.0 < row[f"{name}_gap"] < chains.RANGE  # they met and did not touch
        assert row[f"{name}_ms"] > row["none_ms"]
        assert row[f"{name}_evaluation_us"] > 0.0
    assert row["ipc_over_polyhedral"] == row["ipc_ms"] / row["polyhedral_ms"]
    assert result["checks"][0].passed is True
    assert [pair["vertices"] for pair in result["pairs"]] == [8, 32, 96, 384]
    assert all(pair["ipc_us"] > 0.0 and pair["polyhedral_us"] > 0.0 for pair in result["pairs"])
