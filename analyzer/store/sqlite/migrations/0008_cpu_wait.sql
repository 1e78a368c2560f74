-- The part of a step in which a thread that it needs was ready to run and had no core. Steps stored before have it in their other parts.
ALTER TABLE step ADD COLUMN cpu_wait_ns INTEGER NOT NULL DEFAULT 0;
