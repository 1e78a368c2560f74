#include "harness/experiment/recover/take_over.h"

#include <fmt/format.h>

#include <chrono>
#include <thread>

#include "core/clock.h"
#include "core/error.h"
#include "core/facts/facts.h"
#include "harness/experiment/recover/recover_runs.h"

namespace ddbench::experiment {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kStaleAfter_s = store::kStaleAfter_ns / 1'000'000'000;

std::int64_t last_sign_of(const store::RunRecord& run) {
  return get_fact(run.environment.facts, fact_key<"owner.heartbeat_wall_ns">).value_or(0);
}

/// Until its owner gives a sign of life, or has given none for long: then why it is gone. By changes of the sign, and by this
/// machine's own clock: that of the owner may be another.
std::string wait_for_sign(const store::RunStore& store, const store::RunRecord& run, const TakeOver& how) {
  const std::int64_t sign = last_sign_of(run);
  if (sign == 0) return {};
  if (how.tell) {
    how.tell(fmt::format("run {} is stored as running (pid {} on {}, last sign of life {}): waiting up to {} s for another sign",
                         run.id, run.owner_pid, run.owner_host, store::describe_last_sign(run, wall_ns()), kStaleAfter_s));
  }
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(store::kStaleAfter_ns);
  while (std::chrono::steady_clock::now() < deadline) {
    std::this_thread::sleep_for(1s);
    const auto now = store.run(run.id);
    if (!now || now->state != store::RunState::kRunning || last_sign_of(*now) != sign) return {};
    if (std::string why = store::why_gone(*now, wall_ns()); !why.empty()) return why;
  }
  return fmt::format("the ddbench that ran it (pid {} on {}) gave no sign of life for {} s", run.owner_pid, run.owner_host,
                     kStaleAfter_s);
}

[[noreturn]] void throw_still_running(const store::RunRecord& run) {
  throw Error(ErrorCode::kBadInput,
              fmt::format("run {} is still running (pid {} on {}, last sign of life {}). After {} s without one it may be taken "
                          "over; --force does it at once",
                          run.id, run.owner_pid, run.owner_host, store::describe_last_sign(run, wall_ns()), kStaleAfter_s));
}

}  // namespace

void take_over(store::RunStore& store, const store::RunId& id, const TakeOver& how) {
  const auto run = store.run(id);
  if (!run || run->state != store::RunState::kRunning) return;
  std::string why = store::why_gone(*run, wall_ns());
  if (why.empty() && how.forced) {
    why = fmt::format("it was taken over by --force (pid {} on {}, last sign of life {})", run->owner_pid, run->owner_host,
                      store::describe_last_sign(*run, wall_ns()));
  }
  if (why.empty() && how.waits) {
    why = wait_for_sign(store, *run, how);
    const auto now = store.run(id);
    if (!now || now->state != store::RunState::kRunning) return;
    if (why.empty()) throw_still_running(*now);
  }
  if (why.empty()) throw_still_running(*run);
  recover_run(store, *store.run(id), why);
}

}  // namespace ddbench::experiment
