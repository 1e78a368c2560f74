#pragma once

#include <span>
#include <string>

#include "analyzer/run/run_summary.h"
#include "analyzer/store/rows/run_store.h"
#include "reports/text/sink.h"

namespace ddbench::reports {

// RFC 4180 with a heading row and line feeds, UTF-8. Times are in nanoseconds, sizes in bytes, rates in units
// of 1; the column's name ends with its unit. A cell without a value is empty (the column `missing` of
// runs.csv states why). Texts are made safe for spreadsheets and terminals: control characters are escaped,
// and text that could be read as a formula gets a leading apostrophe.

/// A row for each run.
std::string runs_csv(std::span<const analyzer::RunSummary> runs);

/// A row for each run, function and bucket.
std::string collectives_csv(std::span<const analyzer::RunSummary> runs);

/// A row for each run, step and rank, warm-up (`measured` 0) included; one run at a time.
void write_steps_csv(const store::RunStore& store, std::span<const store::RunId> ids, const Sink& sink);

}  // namespace ddbench::reports
