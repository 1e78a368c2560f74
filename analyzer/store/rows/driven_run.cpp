#include <fmt/format.h>

#include "analyzer/store/rows/run_store.h"
#include "analyzer/store/rows/run_store_impl.h"
#include "core/clock.h"
#include "core/error.h"
#include "core/facts/facts.h"

namespace ddbench::store {
namespace {

bool has_same_owner(const RunRecord& run, const RunRecord& own) {
  return run.owner_pid == own.owner_pid && run.owner_start_ticks == own.owner_start_ticks && run.owner_boot_id == own.owner_boot_id &&
         run.owner_host == own.owner_host;
}

}  // namespace

void RunStore::drive(const RunId& id) {
  impl_->driven = id;
}

void RunStore::let_go() noexcept {
  impl_->driven.clear();
}

std::string RunStore::Impl::why_lost() const {
  RunRecord stored;
  Statement row = database.prepare("SELECT state, owner_pid, owner_start_ticks, owner_boot_id, owner_host FROM run WHERE id = ?");
  if (!row.bind(driven).step()) return fmt::format("run {} was deleted from the store {} by another ddbench", driven, database.file().string());
  std::string state;
  row.read(state, stored.owner_pid, stored.owner_start_ticks, stored.owner_boot_id, stored.owner_host);
  RunRecord own;
  set_owner_to_this_process(own);
  const bool is_own = has_same_owner(stored, own);
  if (is_own && state == to_string(RunState::kRunning)) return {};
  return fmt::format("run {} was closed in the store {} by another ddbench{}, which took this one for dead", driven,
                     database.file().string(),
                     is_own ? "" : fmt::format(" (pid {} on {})", stored.owner_pid, stored.owner_host));
}

std::int64_t RunStore::Impl::run_key_to_write(const RunId& id) const {
  if (driven == id) {
    if (const std::string why = why_lost(); !why.empty()) throw Error(ErrorCode::kRunFailed, why, 0, database.file().string());
  }
  return run_key(id);
}

bool RunStore::beat(const RunId& id) {
  Transaction transaction(impl_->database);
  if (impl_->driven == id && !impl_->why_lost().empty()) return false;
  std::optional<RunRecord> stored = run(id);
  if (!stored || stored->state != RunState::kRunning) return false;
  set_fact(stored->environment.facts, fact_key<"owner.heartbeat_wall_ns">, wall_ns());
  replace_run(impl_->database, *stored, impl_->cases);
  transaction.commit();
  return true;
}

}  // namespace ddbench::store
