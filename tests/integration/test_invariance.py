"""World-size invariance: the same training whatever the number of ranks."""

import pytest

STEPS = 50


def losses(bench, ranks):
    nodes, gpus = (1, ranks) if ranks < 4 else (ranks // 4, 4)
    result = bench.run_json("--nodes", nodes, "--gpus", gpus, "--global-batch", 64, "--steps", STEPS, "--warmup", 0,
                            "-O", "hidden=128,64", "--no-baseline", "--quiet")
    run_id = result["run"]["id"]
    hashes = {row[0] for row in bench.rows("select parameter_hash from rank join run using (run_key) where id = ?", run_id)}
    assert len(hashes) == 1 and "" not in hashes, "replicas differ"
    rows = bench.rows("select step, avg(value), count(*) from step_value join run using (run_key) "
                      "where id = ? and step_value.name = 'loss' group by step order by step", run_id)
    assert [row[0] for row in rows] == list(range(STEPS))
    assert all(row[2] == ranks for row in rows)
    return [row[1] for row in rows]


def test_1_2_4_and_8_ranks_train_alike(bench):
    alone = losses(bench, 1)
    assert alone[-1] < 0.5 * alone[0]
    for ranks in (2, 4, 8):
        assert losses(bench, ranks) == pytest.approx(alone, rel=1e-4), f"{ranks} ranks"
