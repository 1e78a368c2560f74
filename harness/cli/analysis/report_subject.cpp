#include "harness/cli/analysis/report_subject.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "core/error.h"

namespace ddbench::cli {
namespace {

constexpr std::size_t kMostNamed = 5;

ReportSubject sweep_subject(const store::RunStore& store, const std::string& sweep_id) {
  ReportSubject subject;
  subject.sweep_id = sweep_id;
  store::Query query;
  query.sweep_id = sweep_id;
  for (const store::RunRecord& run : store.runs(query)) subject.run_ids.push_back(run.id);
  std::reverse(subject.run_ids.begin(), subject.run_ids.end());
  return subject;
}

/// Newest first.
std::vector<std::string> sweep_ids(const std::vector<store::RunRecord>& runs) {
  std::vector<std::string> ids;
  for (const store::RunRecord& run : runs) {
    if (!run.sweep_id.empty() && std::find(ids.begin(), ids.end(), run.sweep_id) == ids.end())
      ids.push_back(run.sweep_id);
  }
  return ids;
}

bool matches_a_run(const std::vector<store::RunRecord>& runs, const std::string& reference) {
  if (reference == "last") return true;
  return std::any_of(runs.begin(), runs.end(), [&](const store::RunRecord& run) {
    return run.run_case.name == reference || run.id.starts_with(reference) || run.id.ends_with(reference);
  });
}

std::string listed(const std::vector<std::string>& ids) {
  std::string text;
  for (std::size_t i = 0; i < std::min(ids.size(), kMostNamed); ++i) text += (i == 0 ? "" : ", ") + ids[i];
  return ids.size() > kMostNamed ? text + ", ..." : text;
}

}  // namespace

ReportSubject find_report_subject(const store::RunStore& store, const std::string& reference) {
  const std::vector<store::RunRecord> runs = store.runs();
  const std::vector<std::string> sweeps = sweep_ids(runs);
  if (reference == "last-sweep") {
    if (sweeps.empty())
      throw Error(ErrorCode::kBadInput,
                  fmt::format("{} holds no sweep (ddbench sweep makes one)", store.file().string()));
    return sweep_subject(store, sweeps.front());
  }
  if (std::find(sweeps.begin(), sweeps.end(), reference) != sweeps.end())
    return sweep_subject(store, reference);
  if (!matches_a_run(runs, reference)) {
    std::vector<std::string> found;
    std::copy_if(sweeps.begin(), sweeps.end(), std::back_inserter(found), [&](const std::string& id) {
      return !reference.empty() && id.find(reference) != std::string::npos;
    });
    if (found.size() == 1) return sweep_subject(store, found.front());
    if (found.size() > 1) {
      throw Error(ErrorCode::kBadInput, fmt::format("'{}' is a part of {} sweeps: {}; give more of the id",
                                                    reference, found.size(), listed(found)));
    }
  }
  return {{}, {store.find(reference).id}};
}

}  // namespace ddbench::cli
