-- Readings of a rank's clock between the first and the last, and what the clocks leave uncertain.
CREATE TABLE clock_reading (
  run_key        INTEGER NOT NULL REFERENCES run ON DELETE CASCADE,
  rank           INTEGER NOT NULL,
  position       INTEGER NOT NULL,
  at_ns          INTEGER NOT NULL,
  offset_ns      INTEGER NOT NULL,
  uncertainty_ns INTEGER NOT NULL,
  checksum       INTEGER,
  PRIMARY KEY (run_key, rank, position)
) WITHOUT ROWID;
ALTER TABLE step       ADD COLUMN peer_wait_uncertainty_ns INTEGER NOT NULL DEFAULT 0;
ALTER TABLE collective ADD COLUMN transfer_uncertainty_ns  INTEGER NOT NULL DEFAULT 0;
ALTER TABLE collective ADD COLUMN peer_wait_uncertainty_ns INTEGER NOT NULL DEFAULT 0;
