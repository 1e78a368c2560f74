-- Which ranks did a collective together: its bus bandwidth depends on their number. 0: not known, as for programs recorded before.
-- Reference workloads, `ddbench micro` and nccl-tests had one communicator of all ranks.
ALTER TABLE collective ADD COLUMN communicator_ranks   INTEGER NOT NULL DEFAULT 0;
ALTER TABLE collective ADD COLUMN communicator_members TEXT    NOT NULL DEFAULT '';
ALTER TABLE collective ADD COLUMN communicator_place   INTEGER NOT NULL DEFAULT 0;
UPDATE collective SET communicator_ranks =
  coalesce((SELECT CASE workload WHEN 'program' THEN 0 ELSE world_size END FROM run WHERE run.run_key = collective.run_key), 0);
-- nccl-tests were stored as training: their data type was in an option only.
UPDATE run SET strategy = '', precision = coalesce(json_extract(case_json, '$.workload_options.type'), ''),
  case_json = json_set(case_json, '$.strategy', '', '$.optimizer', '',
                       '$.precision', coalesce(json_extract(case_json, '$.workload_options.type'), ''))
  WHERE workload = 'nccl-tests' AND json_valid(case_json);
