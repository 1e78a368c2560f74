#include "analyzer/store/rows/case_cache.h"

#include "analyzer/store/sqlite/refresh_case_keys.h"

namespace ddbench::store {
namespace {

constexpr std::size_t kMostCases = 4096;

}  // namespace

CaseCache::Texts CaseCache::texts_of(const RunCase& run_case) {
  auto known = keys_.find(run_case);
  if (known == keys_.end()) {
    std::string key = case_key(run_case);
    static_cast<void>(run_case_from_json(key));
    if (keys_.size() >= kMostCases) keys_.clear();
    std::string stored = stored_case_key(key);
    known = keys_.emplace(run_case, Texts{std::move(key), std::move(stored)}).first;
  }
  return {to_json(known->second.json, run_case), known->second.key};
}

RunCase CaseCache::case_of(const std::string& json, const std::string& key) {
  auto known = cases_.find(key);
  if (known == cases_.end()) {
    RunCase run_case = run_case_from_json(json);
    // A row of an older program, or a damaged one: its key is not that of its case.
    std::string text = case_key(run_case);
    if (stored_case_key(text) != key) return run_case;
    if (cases_.size() >= kMostCases) cases_.clear();
    known = cases_.emplace(key, KnownCase{std::move(text), std::move(run_case)}).first;
  }
  RunCase run_case = known->second.run_case;
  return read_labels(json, known->second.text, run_case) ? run_case : run_case_from_json(json);
}

}  // namespace ddbench::store
