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

/// `reference`: "last-sweep", a sweep's id, anything that RunStore::find accepts, or a part of one sweep's
/// id; in this order. Throws Error{kBadInput} stating what the store contains instead.
ReportSubject find_report_subject(const store::RunStore& store, const std::string& reference);

}  // namespace ddbench::cli
