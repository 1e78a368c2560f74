-- RunCase has a new field, cuda_graph. Cases stored before hold its default, but those of GPUs, which ran without.
UPDATE run SET case_json = json_set(case_json, '$.cuda_graph', 'off') WHERE json_extract(case_json, '$.device') = 'cuda';
