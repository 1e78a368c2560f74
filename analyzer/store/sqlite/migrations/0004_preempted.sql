-- A run has a new state, preempted. SQLite cannot change a CHECK, and making the table anew would delete all that hangs on it; so
-- the text of its definition is changed, in the way that SQLite's documentation of ALTER TABLE describes. Making an index anew
-- tells every connection, this one included, to read the definitions again.
PRAGMA writable_schema = ON;
UPDATE sqlite_schema SET sql = replace(sql, '''failed'', ''interrupted'')', '''failed'', ''interrupted'', ''preempted'')')
  WHERE type = 'table' AND name = 'run';
PRAGMA writable_schema = RESET;
DROP INDEX run_by_state;
CREATE INDEX run_by_state ON run (state);
