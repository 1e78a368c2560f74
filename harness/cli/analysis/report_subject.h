#pragma once

#include <string>
#include <vector>

#include "analyzer/store/rows/run_store.h"

namespace ddbench::cli {

/// What a report is about: one run, or a sweep.
struct ReportSubject {
  std::string sweep_id;               ///< empty for a single run
  std::vector<store::RunId> run_ids;  ///< oldest first
};

/// `reference`: "last-sweep", a sweep's id, all that RunStore::find takes, or a part of one sweep's id; in
/// this order. Throws Error{kBadInput} that says what the store holds instead.
ReportSubject find_report_subject(const store::RunStore& store, const std::string& reference);

}  // namespace ddbench::cli
