-- run.case_key is a hash (FORMAT.md) and no longer the case as text, which stood in the row and again in its index. The program
-- computes it of case_json, as after every migration.
SELECT 1;
