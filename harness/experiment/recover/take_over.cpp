#include "harness/experiment/recover/take_over.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "core/clock.h"
#include "core/error.h"
#include "core/facts/facts.h"
#include "harness/experiment/ingest/life_signs.h"
#include "harness/experiment/recover/recover_runs.h"

namespace ddbench::experiment {
namespace {

using namespace std::chrono_literals;
using Steady = std::chrono::steady_clock;

constexpr std::int64_t kStaleAfter_s = store::kStaleAfter_ns / 1'000'000'000;

/// 0 when it has none.
std::int64_t last_sign_of(const store::RunRecord& run) {
  return get_fact(run.environment.facts, fact_key<"owner.heartbeat_wall_ns">).value_or(0);
}

std::string owner_of(const store::RunRecord& run) {
  return fmt::format("pid {} on {}, last sign of life {}", run.owner_pid, run.owner_host, store::describe_last_sign(run, wall_ns()));
}

void announce_wait(const store::RunRecord& run, const TakeOver& how, bool is_old) {
  if (!how.announce) return;
  const std::int64_t longest_s = is_old ? std::chrono::ceil<std::chrono::seconds>(how.watch).count() : kStaleAfter_s;
  how.announce(fmt::format("run {} is stored as running ({}): waiting up to {} s for another sign", run.id, owner_of(run), longest_s));
}

/// Until its owner gives a sign of life, or has given none for long: then why it is gone. By changes of the sign, and by this
/// machine's own clock: that of the owner may be another.
std::string wait_for_sign(const store::RunStore& store, const store::RunRecord& run, const TakeOver& how) {
  if (store::is_of_this_host(run) || last_sign_of(run) == 0) return {};
  const bool is_old = !store::why_gone(run, wall_ns()).empty();
  if (!is_old && !how.waits) return {};
  announce_wait(run, how, is_old);
  const auto begin = Steady::now();
  for (;;) {
    std::this_thread::sleep_for(std::min(how.look_every, how.watch));
    const auto now = store.run(run.id);
    if (!now || !is_unchanged(*now, run)) return {};
    const auto watched = Steady::now() - begin;
    if (watched < how.watch) continue;
    if (std::string why = store::why_gone(*now, wall_ns()); !why.empty() || !how.waits) return why;
    if (watched < std::chrono::nanoseconds(store::kStaleAfter_ns)) continue;
    return fmt::format("the ddbench that ran it (pid {} on {}) gave no sign of life for {} s", run.owner_pid, run.owner_host,
                       kStaleAfter_s);
  }
}

[[noreturn]] void throw_still_running(const store::RunRecord& run) {
  const std::string after = store::is_of_this_host(run) || last_sign_of(run) == 0
                                ? "End it first"
                                : fmt::format("After {} s without one it may be taken over", kStaleAfter_s);
  throw Error(ErrorCode::kBadInput,
              fmt::format("run {} is still running ({}). {}; --force takes it over at once", run.id, owner_of(run), after));
}

/// Makes this process the owner of a run that still is as `seen`.
void adopt(store::RunStore& store, const store::RunRecord& seen, bool forced) {
  store::Batch batch(store);
  auto run = store.run(seen.id);
  if (!run || run->state != store::RunState::kRunning) return;
  if (!forced && !is_unchanged(*run, seen)) throw_still_running(*run);
  store::set_owner_to_this_process(*run);
  store.update_run(*run);
  store.beat(run->id);
  batch.commit();
}

}  // namespace

bool is_unchanged(const store::RunRecord& now, const store::RunRecord& seen) {
  return now.state == store::RunState::kRunning && now.owner_pid == seen.owner_pid && now.owner_start_ticks == seen.owner_start_ticks &&
         now.owner_boot_id == seen.owner_boot_id && now.owner_host == seen.owner_host && last_sign_of(now) == last_sign_of(seen);
}

std::map<store::RunId, std::string> gone_runs(const store::RunStore& store, std::span<const store::RunRecord> running,
                                              std::chrono::milliseconds watch) {
  std::map<store::RunId, std::string> gone;
  std::vector<store::RunRecord> watched;
  for (const store::RunRecord& run : running) {
    std::string why = store::why_gone(run, wall_ns());
    if (why.empty()) continue;
    if (!store::is_abandoned(run)) watched.push_back(run);
    gone.emplace(run.id, std::move(why));
  }
  if (watched.empty()) return gone;
  std::this_thread::sleep_for(watch);
  for (const store::RunRecord& run : watched) {
    const auto now = store.run(run.id);
    if (!now || !is_unchanged(*now, run)) gone.erase(run.id);
  }
  return gone;
}

void take_over(store::RunStore& store, const store::RunId& id, const TakeOver& how) {
  const auto run = store.run(id);
  if (!run || run->state != store::RunState::kRunning) return;
  std::string why;
  if (store::is_abandoned(*run)) {
    why = store::why_gone(*run, wall_ns());
  } else if (how.forced) {
    why = fmt::format("it was taken over by --force ({})", owner_of(*run));
  } else {
    why = wait_for_sign(store, *run, how);
    const auto now = store.run(id);
    if (!now || now->state != store::RunState::kRunning) return;
    if (why.empty()) throw_still_running(*now);
  }
  adopt(store, *run, how.forced);
  const auto adopted = store.run(id);
  if (!adopted || adopted->state != store::RunState::kRunning) return;
  const LifeSigns life(store.file(), id);
  recover_run(store, *adopted, why);
}

}  // namespace ddbench::experiment
