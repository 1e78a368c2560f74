#include "harness/cli/store/others_runs.h"

#include <fmt/format.h>

#include "analyzer/store/maintenance/shared_store.h"
#include "core/facts/facts.h"
#include "core/run_case/scheduler_job.h"

namespace ddbench::cli {

OthersRuns::OthersRuns(const std::filesystem::path& store, bool forced)
    : protected_(!forced && store::is_shared(store)), user_(current_user()) {}

bool OthersRuns::contain(const store::RunRecord& run) const {
  return protected_ && get_fact(run.environment.facts, fact_key<"owner.user">).value_or("") != user_;
}

std::string user_of(const store::RunRecord& run) {
  return get_fact(run.environment.facts, fact_key<"owner.user">).value_or("an unknown user");
}

std::string count_by_user(const std::map<std::string, std::size_t>& counts) {
  std::string text;
  for (const auto& [user, count] : counts)
    text += fmt::format("{}{} of {}", text.empty() ? "" : ", ", count, user);
  return text;
}

}  // namespace ddbench::cli
