#include "analyzer/store/sqlite/refresh_case_keys.h"

#include <cstdint>
#include <string>

#include "core/run_case/run_case.h"

namespace ddbench::store {

void refresh_case_keys(const Database& database) {
  Statement select = database.prepare("SELECT run_key, case_json, case_key FROM run ORDER BY run_key");
  Statement update = database.prepare("UPDATE run SET case_key = ? WHERE run_key = ?");
  std::int64_t run_key = 0;
  std::string json, old_key;
  while (select.step()) {
    select.read(run_key, json, old_key);
    const std::string key = case_key(run_case_from_json(json));
    if (key != old_key) update.bind(key, run_key).run();
  }
}

}  // namespace ddbench::store
