#include "analyzer/diagnose/own_work.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/cpu_wait.h"
#include "core/provenance.h"
#include "core/run_case/step_facts.h"

namespace ddbench::analyzer {
namespace {

using store::StepPart;

/// What book_cpu_wait took from exposed communication.
double moved_from_communication(const store::StepRecord& step, double communication_wait_ns) {
  const auto booked = static_cast<double>(step.partition[StepPart::kCpuWait]);
  const auto exposed = static_cast<double>(step.partition.exposed_communication_ns());
  const auto communication = static_cast<double>(step.communication_ns);
  const double waited = std::min(communication_wait_ns, communication);
  if (communication <= waited) return waited > 0 ? booked : 0;
  return std::min(booked, waited * exposed / (communication - waited));
}

double value_at(const std::map<std::uint32_t, double>& values, std::uint32_t step) {
  const auto found = values.find(step);
  return found == values.end() ? 0 : found->second;
}

double mean_duration(std::span<const store::StepRecord> of_step) {
  double sum = 0;
  for (const store::StepRecord& record : of_step) sum += static_cast<double>(record.duration_ns);
  return sum / static_cast<double>(of_step.size());
}

double mean_exposed(std::span<const store::StepRecord> of_step) {
  double sum = 0;
  for (const store::StepRecord& record : of_step) sum += static_cast<double>(record.partition.exposed_communication_ns());
  return sum / static_cast<double>(of_step.size());
}

double transfer_of(const store::StepRecord& record) {
  return static_cast<double>(std::max<std::int64_t>(0, record.communication_ns - record.peer_wait_ns));
}

/// All ranks recorded it, each once.
bool is_whole(std::span<const store::StepRecord> of_step, std::span<const store::RankRecord> ranks) {
  if (of_step.size() != ranks.size()) return false;
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (of_step[i].rank != ranks[i].rank || of_step[i].duration_ns <= 0) return false;
  }
  return true;
}

bool is_probed(std::span<const store::StepRecord> of_step) {
  return std::all_of(of_step.begin(), of_step.end(), [](const store::StepRecord& record) { return record.probes_on; });
}

std::map<std::uint32_t, double> by_step(const std::vector<std::pair<std::uint32_t, double>>& values) {
  std::map<std::uint32_t, double> found;
  for (const auto& [step, value] : values) {
    if (std::isfinite(value) && value >= 0) found.emplace(step, value);
  }
  return found;
}

}  // namespace

OwnWork own_work(const store::StepRecord& step, double main_wait_ns, double communication_wait_ns) {
  const store::StepPartition& parts = step.partition;
  const double from_communication = moved_from_communication(step, communication_wait_ns);
  const double booked = static_cast<double>(parts[StepPart::kCpuWait]) - from_communication;
  const auto compute = static_cast<double>(parts.compute_ns());
  const double inside_compute = std::clamp(main_wait_ns - booked, 0.0, compute);
  OwnWork work;
  work[OwnPart::kCompute] = compute - inside_compute;
  work[OwnPart::kCpuWait] = booked + inside_compute;
  work[OwnPart::kDataWait] = static_cast<double>(parts[StepPart::kDataWait]);
  work[OwnPart::kHost] = static_cast<double>(parts[StepPart::kHost] + parts[StepPart::kCopy] + parts[StepPart::kIdle]);
  return work;
}

WorkTable work_table(std::span<const store::StepRecord> records, std::span<const store::RankRecord> ranks,
                     std::span<const RunQueueDelay> delays, std::uint32_t first_step) {
  WorkTable table;
  for (const store::RankRecord& rank : ranks) table.ranks.push_back({rank.rank, rank.node, rank.host});
  std::optional<double> origin_ns;
  for (std::size_t begin = 0, end = 0; begin < records.size(); begin = end) {
    while (end < records.size() && records[end].step == records[begin].step) ++end;
    const auto of_step = records.subspan(begin, end - begin);
    const std::uint32_t step = of_step.front().step;
    if (step < first_step || !is_whole(of_step, ranks)) continue;
    const auto began_ns = static_cast<double>(of_step.front().begin_ns);
    if (!origin_ns) origin_ns = began_ns;
    if (!is_probed(of_step)) {
      table.unprobed.push_back({step, began_ns - *origin_ns, mean_duration(of_step)});
      continue;
    }
    table.steps.push_back(step);
    table.step_ns.push_back(mean_duration(of_step));
    table.exposed_ns.push_back(mean_exposed(of_step));
    table.begin_ns.push_back(began_ns - *origin_ns);
    for (std::size_t i = 0; i < of_step.size(); ++i) {
      const bool known = i < delays.size();
      const double communication_wait_ns = known ? value_at(delays[i].communication_ns, step) : 0;
      table.work.push_back(own_work(of_step[i], known ? value_at(delays[i].main_ns, step) : 0, communication_wait_ns));
      table.starved_ns.push_back(moved_from_communication(of_step[i], communication_wait_ns));
      table.transfer_ns.push_back(transfer_of(of_step[i]));
    }
  }
  return table;
}

WorkTable with_starvation(WorkTable table) {
  for (std::size_t i = 0; i < std::min(table.work.size(), table.starved_ns.size()); ++i)
    table.work[i][OwnPart::kCpuWait] += table.starved_ns[i];
  return table;
}

WorkTable work_table(const store::RunStore& store, const store::RunRecord& run) {
  const std::vector<store::RankRecord> ranks = store.ranks(run.id);
  std::vector<RunQueueDelay> delays;
  for (const store::RankRecord& rank : ranks) {
    delays.push_back({by_step(store.step_values(run.id, rank.rank, kCpuWaitMain)),
                      by_step(store.step_values(run.id, rank.rank, kCpuWaitCommunication))});
  }
  WorkTable table =
      work_table(store.steps(run.id), ranks, delays, first_measured_step(run.run_case, run.environment.facts));
  table.delay_known = std::all_of(delays.begin(), delays.end(), [](const RunQueueDelay& delay) { return !delay.main_ns.empty(); });
  table.shares_cores = run.provenance.has(Provenance::kOversubscribed);
  return table;
}

}  // namespace ddbench::analyzer
