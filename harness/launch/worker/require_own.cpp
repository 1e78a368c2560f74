#include "harness/launch/worker/require_own.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/error.h"
#include "core/run_case/case_diff.h"
#include "harness/launch/trust/run_token.h"

namespace ddbench::launch {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kLongestName = 64;

[[noreturn]] void refuse(const std::string& why) {
  throw Error(
      ErrorCode::kBadInput,
      fmt::format("{}. Without a secret a rank does only what its own command line says. Start all ranks "
                  "with the same command, or give all of them one {} (`openssl rand -hex 16`)",
                  why, kTokenVariable));
}

/// A run id, the name of a checkpoint: no path, and nothing that a file system reads in its own way.
bool is_plain_name(std::string_view name) {
  return !name.empty() && name.size() <= kLongestName && name.front() != '.' &&
         std::all_of(name.begin(), name.end(), [](char c) {
           return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-';
         });
}

void require_equal(const char* what, int there, int here) {
  if (there != here)
    refuse(fmt::format("the launcher says that this rank's {} is {}, and it is {}", what, there, here));
}

void require_place(const Assignment& assignment, const Placement& placement) {
  require_equal("number", assignment.rank, placement.rank);
  require_equal("world size", assignment.world_size, placement.world_size);
  require_equal("local rank", assignment.local_rank, placement.local_rank);
  require_equal("node", assignment.node, placement.rank / placement.local_world_size);
  if (assignment.core_slot < -1 || assignment.core_slot >= placement.world_size) {
    refuse(fmt::format("the launcher wants this rank on core {} of {} ranks", assignment.core_slot,
                       placement.world_size));
  }
}

/// Empty where they are one case.
std::string difference_of_cases(const RunCase& launchers, RunCase& own) {
  own.sku = launchers.sku;  // rank 0 may have it from its machine; a rank does nothing with it
  const std::string differ = case_differences(case_key(launchers), case_key(own));
  return differ.empty() ? differ : "the launcher's case is not that of this rank's command line: " + differ;
}

void require_case(Assignment& assignment, const OwnCommand& own) {
  if (!own.run_case) refuse("--resume does not say what to run: only rank 0 knows that from its store");
  RunCase own_case = *own.run_case;
  const std::string differ = difference_of_cases(assignment.run_case, own_case);
  if (!differ.empty()) refuse(differ);
  assignment.run_case = own_case;
}

void require_checkpoints(const Assignment& assignment, const OwnCommand& own) {
  const fs::path directory = assignment.checkpoint_directory;
  const fs::path from = assignment.resume_from;
  if (own.run_case->checkpoint_every == 0) {
    if (!directory.empty() || !from.empty())
      refuse("the launcher names checkpoints, which this case has none of");
    return;
  }
  if (directory != own.checkpoints / directory.filename() || !is_plain_name(directory.filename().string())) {
    refuse(fmt::format("the launcher's folder of checkpoints is none in {}, as this rank's command line says",
                       own.checkpoints.string()));
  }
  if (!from.empty() && (from != directory / from.filename() || !is_plain_name(from.filename().string()))) {
    refuse(
        fmt::format("the launcher continues from {}, which is not in {}", from.string(), directory.string()));
  }
}

}  // namespace

void require_own(Assignment& assignment, const OwnCommand& own, const Placement& placement) {
  require_place(assignment, placement);
  require_case(assignment, own);
  require_checkpoints(assignment, own);
  if (!is_plain_name(assignment.run_id)) {
    refuse("the id of the launcher's run is none");
  }
}

void require_same_case(const Assignment& assignment, const OwnCommand& own) {
  if (!own.run_case) return;
  RunCase own_case = *own.run_case;
  const std::string differ = difference_of_cases(assignment.run_case, own_case);
  if (!differ.empty()) throw Error(ErrorCode::kBadInput, differ + ". Start all ranks with the same command");
}

Endpoint own_master(const Placement& placement) {
  if (!placement.master_address.empty() && placement.master_port > 0) {
    return {placement.master_address, placement.master_port};
  }
  refuse("MASTER_ADDR and MASTER_PORT do not say where the program finds rank 0");
}

}  // namespace ddbench::launch
