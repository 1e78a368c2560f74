-- Each row gets a checksum (FORMAT.md), so that `ddbench db check` finds a bit that a disk has changed. The program computes those
-- of the rows that are there. NULL: the row was not written by ddbench, or was damaged before a migration.
ALTER TABLE run          ADD COLUMN checksum INTEGER;
ALTER TABLE rank         ADD COLUMN checksum INTEGER;
ALTER TABLE step         ADD COLUMN checksum INTEGER;
ALTER TABLE collective   ADD COLUMN checksum INTEGER;
ALTER TABLE kernel       ADD COLUMN checksum INTEGER;
ALTER TABLE step_value   ADD COLUMN checksum INTEGER;
ALTER TABLE span_name    ADD COLUMN checksum INTEGER;
ALTER TABLE span_chunk   ADD COLUMN checksum INTEGER;
ALTER TABLE baseline     ADD COLUMN checksum INTEGER;
ALTER TABLE baseline_run ADD COLUMN checksum INTEGER;
