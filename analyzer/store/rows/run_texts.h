#pragma once

#include <string>

#include "analyzer/store/rows/case_cache.h"
#include "core/run_case/records.h"

namespace ddbench::store {

/// What of a run's row is written as JSON. A thread that hands runs to the one with the store makes them ahead, with a cache of its own.
struct RunTexts {
  /// Throws as CaseCache::texts_of.
  RunTexts(const RunRecord& run, CaseCache& cases);

  CaseCache::Texts run_case;
  std::string facts;
};

}  // namespace ddbench::store
