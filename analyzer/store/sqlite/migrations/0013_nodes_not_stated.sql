-- A case says that its nodes are not stated; before, a fact of an import did.
UPDATE run SET case_json  = json_set(case_json, '$.nodes_not_stated', json('true')),
               facts_json = json_remove(facts_json, '$."import.nodes"')
  WHERE CASE WHEN json_valid(facts_json) AND json_valid(case_json) AND nodes = 1 AND world_size > 1
             THEN json_type(case_json) = 'object' AND json_extract(facts_json, '$."import.nodes"') IS NOT NULL
             ELSE 0 END;
