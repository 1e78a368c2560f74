-- What `ddbench db collect` brought. By the id of the run, not by run_key: a run that was deleted since is not brought again.
CREATE TABLE collected_run (
  run_id            TEXT    NOT NULL PRIMARY KEY,
  source            TEXT    NOT NULL,
  collected_wall_ns INTEGER NOT NULL,
  checksum          INTEGER
) WITHOUT ROWID;

-- The state of a source's file when it was last collected.
CREATE TABLE collected_source (
  source   TEXT NOT NULL PRIMARY KEY,
  state    TEXT NOT NULL,
  checksum INTEGER
) WITHOUT ROWID;
