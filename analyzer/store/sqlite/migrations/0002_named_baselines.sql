-- Named baselines of the gate. A version is never changed: setting a name again adds the next one.
CREATE TABLE baseline (
  name            TEXT    NOT NULL,
  version         INTEGER NOT NULL,
  created_wall_ns INTEGER NOT NULL,
  reference       TEXT    NOT NULL,
  PRIMARY KEY (name, version)
) WITHOUT ROWID;

-- Names runs by their id, not by run_key: a baseline belongs to its store, not to its runs, so that merging stores neither
-- takes it along nor finds a difference in it, and a pruned run leaves a gap that can be told.
CREATE TABLE baseline_run (
  name     TEXT    NOT NULL,
  version  INTEGER NOT NULL,
  position INTEGER NOT NULL,
  run_id   TEXT    NOT NULL,
  PRIMARY KEY (name, version, position),
  FOREIGN KEY (name, version) REFERENCES baseline ON DELETE CASCADE
) WITHOUT ROWID;
