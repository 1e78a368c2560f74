#include "harness/training/injected_faults.h"

#include <fmt/format.h>

#include <cstdlib>
#include <thread>

#include "core/error.h"
#include "core/run_case/injected.h"
#include "core/text/number.h"

namespace ddbench::ddp {
namespace {

using Time = FaultPlan::Time;

[[noreturn]] void refuse(std::string_view item, const char* remedy) {
  throw Error(ErrorCode::kBadInput, fmt::format("{}: \"{}\": {}", kInjectVariable, item, remedy), 0, "injected faults");
}

std::uint32_t count_from(std::string_view item, std::string_view value) {
  const auto count = number_from<std::uint32_t>(value);
  if (!count) refuse(item, "write a number");
  return *count;
}

/// "2ms", at most a minute.
Time time_from(std::string_view item, std::string_view value) {
  constexpr std::uint32_t kMost_ms = 60'000;
  if (!value.ends_with("ms")) refuse(item, "write a time in ms, as in data=5ms");
  const std::uint32_t ms = count_from(item, value.substr(0, value.size() - 2));
  if (ms > kMost_ms) refuse(item, "at most 60000ms");
  return std::chrono::milliseconds(ms);
}

void set(FaultPlan& plan, std::string_view item) {
  const std::size_t equals = item.find('=');
  const std::string_view key = item.substr(0, equals);
  const std::string_view value = equals == std::string_view::npos ? std::string_view() : item.substr(equals + 1);
  if (key == "rank") {
    plan.rank = static_cast<int>(count_from(item, value));
  } else if (key == "node") {
    plan.node = static_cast<int>(count_from(item, value));
  } else if (key == "link") {
    plan.link = value;
  } else if (key == "everywhere") {
    plan.everywhere = time_from(item, value);
  } else if (key == "from") {
    plan.from = count_from(item, value);
  } else if (key == "paced") {
    plan.paced = time_from(item, value);
  } else if (key == "operator") {
    plan.op = time_from(item, value);
  } else if (key == "data") {
    plan.data = time_from(item, value);
  } else if (key == "host") {
    plan.host = time_from(item, value);
  } else if (key == "moving") {
    plan.moving = time_from(item, value);
  } else {
    refuse(item, "the keys are paced, operator, data, host, moving, everywhere, link, node, rank and from");
  }
}

/// All ranks number the steps in the same way, so all draw the same rank (the finalizer of SplitMix64).
int drawn_rank(std::uint32_t step, int world_size) {
  std::uint64_t bits = step + 0x9E3779B97F4A7C15ULL;
  bits = (bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9ULL;
  bits = (bits ^ (bits >> 27)) * 0x94D049BB133111EBULL;
  return static_cast<int>((bits ^ (bits >> 31)) % static_cast<std::uint64_t>(world_size));
}

}  // namespace

FaultPlan fault_plan(std::string_view text) {
  FaultPlan plan;
  while (!text.empty()) {
    const std::size_t comma = text.find(',');
    set(plan, text.substr(0, comma));
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
  }
  return plan;
}

InjectedFaults::InjectedFaults(int rank, int world_size, workload::Probe& probe)
    : rank_(rank), world_size_(world_size) {
  const char* const text = std::getenv(kInjectVariable);
  if (text == nullptr || *text == '\0') return;
  plan_ = fault_plan(text);
  active_ = true;
  is_victim_ = plan_.rank == rank;
  operator_name_ = probe.intern("paced");
  data_name_ = probe.intern("load_batch");
  host_name_ = probe.intern("injected_host");
}

void InjectedFaults::begin_step(std::uint32_t step, workload::Probe& probe) const {
  if (!active_) return;
  const bool is_hit = is_victim_ && step >= plan_.from;
  if (is_hit && plan_.data.count() > 0) {
    const auto span = probe.host_span(SpanKind::kDataWait, data_name_);
    std::this_thread::sleep_for(plan_.data);
  }
  if (is_hit && plan_.host.count() > 0) {
    const auto span = probe.host_span(SpanKind::kHost, host_name_);
    std::this_thread::sleep_for(plan_.host);
  }
  Time length = plan_.paced + (is_hit ? plan_.op : Time(0));
  if (step >= plan_.from && plan_.moving.count() > 0 && drawn_rank(step, world_size_) == rank_) length += plan_.moving;
  if (step >= plan_.from) length += plan_.everywhere;
  if (length.count() == 0) return;
  const auto span = probe.host_span(SpanKind::kForward, operator_name_);
  std::this_thread::sleep_for(length);
}

}  // namespace ddbench::ddp
