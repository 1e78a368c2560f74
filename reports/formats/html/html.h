#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "analyzer/comparison/compare.h"
#include "analyzer/run/run_summary.h"
#include "reports/tables/report.h"

namespace ddbench::reports {

// Self-contained pages: headline, caveats, charts (figure_svg), sortable tables. For light and dark themes,
// narrow and wide windows, and print. A page loads nothing from other hosts and forbids it by its
// Content-Security-Policy. Pages that are served link to each other (PageLinks); a page in a file has no links.

/// The list of runs is at the address `root`, and from there "run/ID", "sweep/ID" and "compare?a=ID&b=ID" are pages. Relative, so
/// that it holds behind a proxy too.
struct PageLinks {
  std::string root = "./";
};

std::string run_html(const RunReport& report, const PageLinks* links = nullptr);
std::string sweep_html(const SweepReport& report, const PageLinks* links = nullptr);
std::string comparison_html(const analyzer::Comparison& comparison, const PageLinks* links = nullptr);

/// A field of a form: the name and value in the address that it leads to.
struct FormField {
  std::string name;
  std::string label;
  std::string value;
};

/// Runs of a store, for readers who look for one.
struct RunListPage {
  std::string store;
  std::vector<FormField> filters;
  std::vector<std::string> alarms;
  std::vector<analyzer::RunSummary> runs;  ///< newest first
  std::int64_t all = 0;                    ///< how many match the filters but the limit
};

std::string run_list_html(const RunListPage& list, const PageLinks& links);
/// A page of some lines: why there is no other.
std::string message_html(const std::string& title, const std::string& message, const PageLinks& links);

/// The policy of all pages, for the header of an answer; a page in a file has it in itself.
std::string content_security_policy();

}  // namespace ddbench::reports
