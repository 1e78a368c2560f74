#pragma once

#include <string>
#include <unordered_map>

#include "core/run_case/run_case_hash.h"

namespace ddbench::store {

/// Runs of a store repeat few cases and differ in their labels: each case is written as JSON, or read from it,
/// once. Holds the last thousands of cases. Of one thread.
class CaseCache {
 public:
  struct Texts {
    std::string json;
    std::string key;  ///< stored_case_key()
  };
  /// Throws Error{kBadInput} for a case that could not be read back (a learning rate of NaN): it would make
  /// every list of runs fail.
  Texts texts_of(const RunCase& run_case);
  /// The case of a row's columns case_json and case_key. Throws as run_case_from_json.
  RunCase case_of(const std::string& json, const std::string& key);

 private:
  struct KnownCase {
    std::string text;  ///< case_key()
    RunCase run_case;
  };
  std::unordered_map<RunCase, Texts, UnlabelledHash, UnlabelledEqual> keys_;  ///< case_key() and the stored key
  std::unordered_map<std::string, KnownCase> cases_;      ///< by the stored key
};

}  // namespace ddbench::store
