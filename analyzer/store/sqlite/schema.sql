-- Schema version 1. Never edited once released: a change is a new file in migrations/ (README.md).
-- What tables, columns and units mean is said in FORMAT.md.

CREATE TABLE run (
  run_key            INTEGER PRIMARY KEY,
  id                 TEXT    NOT NULL UNIQUE,
  state              TEXT    NOT NULL CHECK (state IN ('running', 'done', 'failed', 'interrupted')),
  reason             TEXT    NOT NULL,
  valid              INTEGER NOT NULL,
  invalid_reason     TEXT    NOT NULL,
  sweep_id           TEXT    NOT NULL,
  baseline_id        TEXT    NOT NULL,
  is_baseline        INTEGER NOT NULL,
  repetition         INTEGER NOT NULL,
  provenance         INTEGER NOT NULL,
  started_wall_ns    INTEGER NOT NULL,
  finished_wall_ns   INTEGER NOT NULL,
  name               TEXT    NOT NULL,
  workload           TEXT    NOT NULL,
  nodes              INTEGER NOT NULL,
  gpus_per_node      INTEGER NOT NULL,
  world_size         INTEGER NOT NULL,
  scaling            TEXT    NOT NULL,
  batch_per_gpu      INTEGER NOT NULL,
  precision          TEXT    NOT NULL,
  strategy           TEXT    NOT NULL,
  device             TEXT    NOT NULL,
  backend            TEXT    NOT NULL,
  link               TEXT    NOT NULL,
  sku                TEXT    NOT NULL,
  case_json          TEXT    NOT NULL,
  case_key           TEXT    NOT NULL,
  fingerprint        TEXT    NOT NULL,
  network            TEXT    NOT NULL,
  facts_json         TEXT    NOT NULL,
  owner_pid          INTEGER NOT NULL,
  owner_start_ticks  INTEGER NOT NULL,
  owner_boot_id      TEXT    NOT NULL,
  owner_host         TEXT    NOT NULL
);
CREATE INDEX run_by_start       ON run (started_wall_ns);
CREATE INDEX run_by_sweep       ON run (sweep_id);
CREATE INDEX run_by_name        ON run (name);
CREATE INDEX run_by_state       ON run (state);
CREATE INDEX run_by_case        ON run (case_key);
CREATE INDEX run_by_fingerprint ON run (fingerprint);

CREATE TABLE rank (
  run_key                    INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  rank                       INTEGER NOT NULL,
  local_rank                 INTEGER NOT NULL,
  node                       INTEGER NOT NULL,
  host                       TEXT    NOT NULL,
  pid                        INTEGER NOT NULL,
  cores                      TEXT    NOT NULL,
  clock_start_at_ns          INTEGER NOT NULL,
  clock_start_offset_ns      INTEGER NOT NULL,
  clock_start_uncertainty_ns INTEGER NOT NULL,
  clock_end_at_ns            INTEGER NOT NULL,
  clock_end_offset_ns        INTEGER NOT NULL,
  clock_end_uncertainty_ns   INTEGER NOT NULL,
  clock_shared               INTEGER NOT NULL,
  dropped_spans              INTEGER NOT NULL,
  peak_memory_bytes          INTEGER NOT NULL,
  parameter_hash             TEXT    NOT NULL,
  outcome                    TEXT    NOT NULL,
  PRIMARY KEY (run_key, rank)
) WITHOUT ROWID;

CREATE TABLE step (
  run_key              INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  step                 INTEGER NOT NULL,
  rank                 INTEGER NOT NULL,
  begin_ns             INTEGER NOT NULL,
  duration_ns          INTEGER NOT NULL,
  probes_on            INTEGER NOT NULL,
  forward_ns           INTEGER NOT NULL,
  backward_ns          INTEGER NOT NULL,
  optimizer_ns         INTEGER NOT NULL,
  other_compute_ns     INTEGER NOT NULL,
  exposed_transfer_ns  INTEGER NOT NULL,
  exposed_peer_wait_ns INTEGER NOT NULL,
  copy_ns              INTEGER NOT NULL,
  data_wait_ns         INTEGER NOT NULL,
  host_ns              INTEGER NOT NULL,
  idle_ns              INTEGER NOT NULL,
  communication_ns     INTEGER NOT NULL,
  overlap_ns           INTEGER NOT NULL,
  peer_wait_ns         INTEGER NOT NULL,
  loss                 REAL,
  PRIMARY KEY (run_key, step, rank)
) WITHOUT ROWID;

CREATE TABLE collective (
  run_key            INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  position           INTEGER NOT NULL,
  function           TEXT    NOT NULL,
  bucket             INTEGER NOT NULL,
  bytes              INTEGER NOT NULL,
  count              INTEGER NOT NULL,
  transfer_ns        INTEGER NOT NULL,
  duration_ns        INTEGER NOT NULL,
  peer_wait_ns       INTEGER NOT NULL,
  peer_wait_resolved INTEGER NOT NULL,
  PRIMARY KEY (run_key, position)
) WITHOUT ROWID;

CREATE TABLE kernel (
  run_key  INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  position INTEGER NOT NULL,
  name     TEXT    NOT NULL,
  kind     TEXT    NOT NULL,
  count    INTEGER NOT NULL,
  total_ns INTEGER NOT NULL,
  max_ns   INTEGER NOT NULL,
  PRIMARY KEY (run_key, position)
) WITHOUT ROWID;

CREATE TABLE step_value (
  run_key INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  rank    INTEGER NOT NULL,
  name    TEXT    NOT NULL,
  step    INTEGER NOT NULL,
  value   REAL,
  PRIMARY KEY (run_key, rank, name, step)
) WITHOUT ROWID;

CREATE TABLE span_name (
  run_key INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  rank    INTEGER NOT NULL,
  name_id INTEGER NOT NULL,
  name    TEXT    NOT NULL,
  PRIMARY KEY (run_key, rank, name_id)
) WITHOUT ROWID;

-- Has a rowid: large blobs do not belong into the B-tree of a key.
CREATE TABLE span_chunk (
  run_key    INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  rank       INTEGER NOT NULL,
  position   INTEGER NOT NULL,
  span_count INTEGER NOT NULL,
  first_step INTEGER,
  last_step  INTEGER,
  first_ns   INTEGER NOT NULL,
  last_ns    INTEGER NOT NULL,
  chunk      BLOB    NOT NULL,
  PRIMARY KEY (run_key, rank, position)
);
