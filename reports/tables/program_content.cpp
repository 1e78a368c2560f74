#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "core/facts/facts.h"
#include "core/run_case/program_case.h"
#include "reports/tables/run_content.h"
#include "reports/text/phrases.h"

namespace ddbench::reports {
namespace {

using analyzer::RunSummary;
using store::StepPart;

struct HostCause {
  const char* name;
  const char* meaning;
  std::int64_t ns = 0;
};

/// The causes of host time that the marks recorded; empty without marks.
std::vector<HostCause> host_causes(const Facts& facts) {
  const auto forward = get_fact(facts, fact_key<"program.host_forward_ns">);
  const auto backward = get_fact(facts, fact_key<"program.host_backward_ns">);
  const auto optimizer = get_fact(facts, fact_key<"program.host_optimizer_ns">);
  const auto elsewhere = get_fact(facts, fact_key<"program.host_elsewhere_ns">);
  if (!forward || !backward || !optimizer || !elsewhere) return {};
  return {{"host in forward", "Python and framework between operators", *forward},
          {"host in backward", "autograd, hooks and reducers between operators", *backward},
          {"host in optimizer", "its Python between operators, zero_grad as well", *optimizer},
          {"host elsewhere", "the loop itself, callbacks, logging, schedulers", *elsewhere}};
}

/// The causes are disjoint: they exclude the host time that counts as CPU wait, so that they sum to the part
/// of the step.
void scale_to(std::int64_t total_ns, std::vector<HostCause>& causes) {
  double sum = 0;
  for (const HostCause& cause : causes) sum += static_cast<double>(cause.ns);
  for (HostCause& cause : causes)
    cause.ns = sum > 0 ? std::llround(static_cast<double>(cause.ns) / sum * static_cast<double>(total_ns)) : 0;
}

/// Stands for a part of the step, and is no operator.
bool is_part_of_step(const store::KernelRecord& kernel) {
  return kernel.name == kernel.kind && (kernel.kind == "host" || kernel.kind == "data_wait");
}

}  // namespace

DataTable gaps_data(const RunSummary& summary) {
  DataTable table;
  const std::int64_t step_ns = summary.partition.total_ns();
  if (!is_program(summary.run.run_case) || step_ns <= 0) return table;
  table.caption = "Gaps by cause";
  table.detail = "time of a step in no operator and no collective, mean over ranks";
  table.columns = {{"gap"}, {"a step", true}, {"share", true}, {.title = "cause", .is_prose = true}};
  const auto add = [&](const char* name, std::int64_t ns, const char* meaning) {
    table.rows.push_back({text_cell(name), time_cell(static_cast<double>(ns)),
                          text_cell(percent_in_words(static_cast<double>(ns) / static_cast<double>(step_ns))),
                          text_cell(meaning, CellTone::kFaint)});
  };
  const auto& parts = summary.partition;
  const std::int64_t host_ns = parts[StepPart::kHost];
  std::vector<HostCause> causes = host_causes(summary.run.environment.facts);
  scale_to(host_ns, causes);
  if (parts[StepPart::kDataWait] > 0 || !causes.empty())
    add("data wait", parts[StepPart::kDataWait], "the DataLoader had no batch ready");
  for (const HostCause& cause : causes) add(cause.name, cause.ns, cause.meaning);
  if (causes.empty())
    add("host", host_ns, "not known in detail: only marks inside of a Python program show its loader and phases");
  if (summary.cpu_wait_ns) add("CPU wait", parts[StepPart::kCpuWait], "threads that were ready had no core");
  if (parts[StepPart::kIdle] > 0) add("idle", parts[StepPart::kIdle], "this rank was between steps, others were not");
  return table;
}

DataTable kernels_data(const RunSummary& summary, std::size_t most) {
  DataTable table;
  table.caption = "Operators and kernels";
  table.columns = {{.title = "name", .is_prose = true}, {"kind"},
                   {"count", true}, {"total", true, "over all ranks and measured steps"},
                   {"mean", true},  {"longest", true}};
  std::vector<store::KernelRecord> kernels = summary.kernels;
  if (is_program(summary.run.run_case)) std::erase_if(kernels, is_part_of_step);
  std::stable_sort(kernels.begin(), kernels.end(),
                   [](const auto& a, const auto& b) { return a.total_ns > b.total_ns; });
  table.detail =
      kernels.size() > most ? fmt::format("the {} with the largest totals of {}", most, kernels.size()) : "";
  kernels.resize(std::min(kernels.size(), most));
  for (const store::KernelRecord& kernel : kernels) {
    const double count = static_cast<double>(std::max<std::uint64_t>(kernel.count, 1));
    table.rows.push_back({code_cell(kernel.name), text_cell(kernel.kind),
                          count_cell(static_cast<std::int64_t>(kernel.count)),
                          time_cell(static_cast<double>(kernel.total_ns)),
                          time_cell(static_cast<double>(kernel.total_ns) / count),
                          time_cell(static_cast<double>(kernel.max_ns))});
  }
  return table;
}

}  // namespace ddbench::reports
