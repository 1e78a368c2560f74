#include "harness/cli/data/listed_runs.h"

#include <algorithm>
#include <utility>

#include "core/facts/facts.h"
#include "harness/cli/options/run_selection.h"

namespace ddbench::cli {
namespace {

/// "1234" is the job that is stored as "slurm 1234".
bool is_job(const std::string& stored, const std::string& asked) {
  return stored == asked || stored.substr(stored.find(' ') + 1) == asked;
}

/// "node1" is the host "node1.cluster".
bool is_host(const std::string& stored, const std::string& asked) {
  return !stored.empty() && (stored == asked || stored.substr(0, stored.find('.')) == asked);
}

/// The launcher's host, or that of a rank.
bool ran_on(const store::RunStore& store, const store::RunRecord& run, const std::string& host) {
  if (is_host(run.owner_host, host)) return true;
  const std::vector<store::RankRecord> ranks = store.ranks(run.id);
  return std::any_of(ranks.begin(), ranks.end(), [&](const store::RankRecord& rank) { return is_host(rank.host, host); });
}

bool is_asked_for(const store::RunStore& store, const store::RunRecord& run, const RunFilter& filter) {
  const Facts& facts = run.environment.facts;
  if (!filter.user.empty() && get_fact(facts, fact_key<"owner.user">).value_or("") != filter.user) return false;
  if (!filter.job.empty() && !is_job(get_fact(facts, fact_key<"job.id">).value_or(""), filter.job)) return false;
  return filter.host.empty() || ran_on(store, run, filter.host);
}

}  // namespace

ListedRecords listed_records(const store::RunStore& store, const RunFilter& filter, bool counts_all) {
  const bool by_origin = !filter.user.empty() || !filter.job.empty() || !filter.host.empty();
  store::Query query;
  query.name = filter.name;
  if (!filter.sweep.empty()) query.sweep_id = sweep_with(store, filter.sweep);
  if (!by_origin) query.limit = filter.limit;
  ListedRecords records;
  for (store::RunRecord& run : store.runs(query)) {
    const bool is_full = filter.limit > 0 && records.newest.size() == static_cast<std::size_t>(filter.limit);
    if (is_full && !counts_all) break;
    if (by_origin && !is_asked_for(store, run, filter)) continue;
    ++records.all;
    if (filter.limit == 0 || records.newest.size() < static_cast<std::size_t>(filter.limit)) records.newest.push_back(std::move(run));
  }
  if (!by_origin && filter.limit > 0 && counts_all) records.all = store.count(query);
  return records;
}

}  // namespace ddbench::cli
