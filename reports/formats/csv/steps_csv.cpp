#include <fmt/format.h>

#include <optional>

#include "core/error.h"
#include "core/facts/facts.h"
#include "core/run_case/step_facts.h"
#include "reports/formats/csv/csv.h"
#include "reports/formats/csv/fields.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {
namespace {

constexpr std::size_t kPiece = 1 << 16;

std::string step_row(const std::string& run_field, const store::StepRecord& step, std::uint32_t first_measured) {
  std::string row =
      fmt::format("{},{},{},{},{},{},{}", run_field, step.step, step.rank, step.step >= first_measured ? 1 : 0,
                  step.begin_ns, step.duration_ns, step.probes_on ? 1 : 0);
  if (step.probes_on) {
    row += csv::partition_values(step.partition);
    row += fmt::format(",{},{},{}", step.communication_ns, step.overlap_ns, step.peer_wait_ns);
  } else {
    row += csv::empty_partition() + ",,,";
  }
  return row + "," + csv::real(step.loss) + "\n";
}

}  // namespace

void write_steps_csv(const store::RunStore& store, std::span<const store::RunId> ids, const Sink& sink) {
  std::string text = "run_id,step,rank,measured,begin_ns,duration_ns,probes_on" + csv::partition_names() +
                     ",communication_ns,overlap_ns,peer_wait_ns,loss\n";
  for (const store::RunId& id : ids) {
    const std::optional<store::RunRecord> run = store.run(id);
    if (!run)
      throw Error(ErrorCode::kBadInput, fmt::format("run {} is not in {}", id, store.file().string()));
    if (has_fact(run->environment.facts, fact_key<"import.step_time">)) continue;  // its stored step stands for a throughput
    const std::string field = csv_field(id);
    const std::uint32_t first_measured = first_measured_step(run->run_case, run->environment.facts);
    for (const store::StepRecord& step : store.steps(id)) {
      text += step_row(field, step, first_measured);
      if (text.size() < kPiece) continue;
      sink(text);
      text.clear();
    }
  }
  sink(text);
}

}  // namespace ddbench::reports
