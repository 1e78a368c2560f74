#include "analyzer/store/sqlite/refresh_case_keys.h"

#include <fmt/format.h>

#include <cstdint>
#include <string>

#include "core/error.h"
#include "core/run_case/run_case.h"
#include "core/text/text_hash.h"

namespace ddbench::store {

std::string stored_case_key(std::string_view case_key) {
  constexpr std::uint64_t kOther = 0x9E37'79B9'7F4A'7C15ULL;
  return fmt::format("{:016x}{:016x}", hash_text(case_key), hash_text(case_key, kOther));
}

void refresh_case_keys(const Database& database) {
  Statement select = database.prepare("SELECT run_key, case_json, case_key FROM run ORDER BY run_key");
  Statement update = database.prepare("UPDATE run SET case_key = ? WHERE run_key = ?");
  std::int64_t run_key = 0;
  std::string json, old_key;
  while (select.step()) {
    select.read(run_key, json, old_key);
    std::string key = old_key;
    try {
      key = stored_case_key(case_key(run_case_from_json(json)));
    } catch (const Error&) {
      // A run that cannot be read is named where runs are listed; the others get their keys.
    }
    if (key != old_key) update.bind(key, run_key).run();
  }
}

}  // namespace ddbench::store
