#include "harness/launch/start/placement.h"

#include <fmt/format.h>
#include <unistd.h>

#include <initializer_list>
#include <nlohmann/json.hpp>
#include <optional>
#include <vector>

#include "core/error.h"
#include "core/text/number.h"

namespace ddbench::launch {
namespace {

/// The variables of one kind of starter. Where several names stand, the first one that is set counts.
struct Dialect {
  const char* name;
  const char* rank;
  std::vector<const char*> world_size;
  const char* local_rank;
  std::vector<const char*> local_world_size;
  std::vector<const char*> job;
};

const Dialect kTorchrun{
    "torchrun", "RANK", {"WORLD_SIZE"}, "LOCAL_RANK", {"LOCAL_WORLD_SIZE"}, {"TORCHELASTIC_RUN_ID"}};
const Dialect kOpenMpi{"Open MPI",
                       "OMPI_COMM_WORLD_RANK",
                       {"OMPI_COMM_WORLD_SIZE"},
                       "OMPI_COMM_WORLD_LOCAL_RANK",
                       {"OMPI_COMM_WORLD_LOCAL_SIZE"},
                       {"PMIX_NAMESPACE", "OMPI_MCA_ess_base_jobid"}};
const Dialect kPmi{"PMI", "PMI_RANK", {"PMI_SIZE"}, "MPI_LOCALRANKID", {"MPI_LOCALNRANKS"}, {"PMI_JOBID"}};
/// horovodrun with its own controller (--gloo); with mpirun it is Open MPI's.
const Dialect kHorovod{"Horovod", "HOROVOD_RANK", {"HOROVOD_SIZE"}, "HOROVOD_LOCAL_RANK", {"HOROVOD_LOCAL_SIZE"}, {}};
const Dialect kSlurm{"Slurm",
                     "SLURM_PROCID",
                     {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"},
                     "SLURM_LOCALID",
                     {"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"},
                     {"SLURM_JOB_ID"}};

const std::string* value_of(const Variables& variables, const std::string& name) {
  const auto entry = variables.find(name);
  return entry == variables.end() || entry->second.empty() ? nullptr : &entry->second;
}

std::string first_set(const Variables& variables, const std::vector<const char*>& names) {
  for (const char* name : names) {
    if (const std::string* value = value_of(variables, name)) return *value;
  }
  return {};
}

/// Slurm's "2(x3),1" begins with the first node's number, which all nodes must share here anyway.
int number(const std::string& name, const std::string& text) {
  const auto value = leading_number<int>(text);
  const bool whole = value && (value->rest.empty() || value->rest.front() == '(');
  if (whole && value->value >= 0) return value->value;
  throw Error(ErrorCode::kBadInput, fmt::format("the variable {} is \"{}\", which is no number{}", name, text,
                                                text.find(',') != std::string::npos
                                                    ? ": every node must have the same number of ranks"
                                                    : ""));
}

int required(const Variables& variables, const Dialect& dialect, const std::vector<const char*>& names) {
  const std::string value = first_set(variables, names);
  if (!value.empty()) return number(names.front(), value);
  throw Error(ErrorCode::kBadInput,
              fmt::format("{} is set, but {} is not: this is no complete {} environment", dialect.rank,
                          names.front(), dialect.name));
}

std::optional<Placement> read(const Variables& variables, const Dialect& dialect) {
  const std::string* rank = value_of(variables, dialect.rank);
  if (rank == nullptr) return std::nullopt;
  Placement placement;
  placement.source = dialect.name;
  placement.rank = number(dialect.rank, *rank);
  placement.world_size = required(variables, dialect, dialect.world_size);
  // With one process per node, as Kubeflow starts them, the local rank may be missing.
  if (const std::string* local = value_of(variables, dialect.local_rank)) {
    placement.local_rank = number(dialect.local_rank, *local);
    placement.local_world_size = required(variables, dialect, dialect.local_world_size);
  }
  placement.job = first_set(variables, dialect.job);
  if (placement.rank < placement.world_size && placement.local_rank < placement.local_world_size)
    return placement;
  throw Error(
      ErrorCode::kBadInput,
      fmt::format("{} says rank {} of {} and local rank {} of {}, which cannot be", dialect.name,
                  placement.rank, placement.world_size, placement.local_rank, placement.local_world_size));
}

/// The starters that may have started this very process, the nearest one first.
std::vector<Dialect> starters(const Variables& variables) {
  if (value_of(variables, "TORCHELASTIC_RUN_ID") != nullptr) return {kTorchrun};
  if (value_of(variables, kHorovod.rank) != nullptr) return {kHorovod};
  // Its daemons may be tasks of a Slurm step, whose numbers its processes inherit.
  if (value_of(variables, kOpenMpi.rank) != nullptr) return {kOpenMpi, kTorchrun, kPmi};
  // A batch script has a rank, but is none: only the tasks of a step are.
  if (value_of(variables, "SLURM_STEP_NUM_TASKS") == nullptr) return {kTorchrun, kPmi};
  return {kTorchrun, kPmi, kSlurm};
}

void must_agree(const Placement& a, const Dialect& dialect_a, const Placement& b, const Dialect& dialect_b) {
  const auto compare = [&](const char* name_a, int value_a, const char* name_b, int value_b) {
    if (value_a == value_b) return;
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} is {} and {} is {}: which is this rank's? Unset the one that is not meant",
                            name_a, value_a, name_b, value_b));
  };
  compare(dialect_a.rank, a.rank, dialect_b.rank, b.rank);
  compare(dialect_a.world_size.front(), a.world_size, dialect_b.world_size.front(), b.world_size);
}

/// "10.0.0.4:6105" with Azure ML; a plain name otherwise.
void set_master(Placement& placement, const std::string& address) {
  const std::size_t colon = address.rfind(':');
  const bool with_port = colon != std::string::npos && address.find(':') == colon;
  placement.master_address = address.substr(0, with_port ? colon : std::string::npos);
}

constexpr int kLastPort = 65535;

void find_master(const Variables& variables, Placement& placement) {
  if (const std::string* port = value_of(variables, "MASTER_PORT")) {
    placement.master_port = number("MASTER_PORT", *port);
    if (placement.master_port > kLastPort)
      throw Error(ErrorCode::kBadInput, fmt::format("MASTER_PORT is {}, but ports end at {}", *port, kLastPort));
  }
  for (const char* name : {"MASTER_ADDR", "AZ_BATCH_MASTER_NODE", "AZ_BATCHAI_MPI_MASTER_NODE"}) {
    if (const std::string* address = value_of(variables, name)) return set_master(placement, *address);
  }
  if (placement.world_size == placement.local_world_size) {
    placement.master_address = "127.0.0.1";
  } else if (placement.source == kSlurm.name) {
    placement.master_address =
        first_of_nodes(first_set(variables, {"SLURM_STEP_NODELIST", "SLURM_NODELIST"}));
  }
}

/// TF_CONFIG, as TensorFlow documents it for MultiWorkerMirroredStrategy and as Azure ML and Kubeflow set it: a process a node, the
/// chief first.
Placement tensorflow_placement(const Variables& variables) {
  const std::string* const text = value_of(variables, "TF_CONFIG");
  if (text == nullptr) return {};
  const auto refuse = [](const char* why) -> Placement {
    throw Error(ErrorCode::kBadInput, fmt::format("the variable TF_CONFIG {}", why));
  };
  const auto config = nlohmann::json::parse(*text, nullptr, false);
  if (!config.is_object() || !config.contains("cluster") || !config["cluster"].is_object() || !config.contains("task") ||
      !config["task"].is_object())
    return refuse("is no JSON object with cluster and task");
  const auto& task = config["task"];
  if (!task.contains("type") || !task["type"].is_string() || !task.contains("index") || !task["index"].is_number_integer())
    return refuse("does not say the type and index of its task");
  Placement placement;
  placement.source = "TF_CONFIG";
  placement.rank = -1;
  int ranks = 0;
  for (const char* type : {"chief", "master", "worker"}) {
    const auto members = config["cluster"].find(type);
    if (members == config["cluster"].end()) continue;
    if (!members->is_array()) return refuse("has a cluster whose members are no lists");
    for (std::size_t i = 0; i < members->size(); ++i, ++ranks) {
      if (!(*members)[i].is_string()) return refuse("has a member that is no address");
      if (ranks == 0) set_master(placement, (*members)[i].get<std::string>());
      if (task["type"] == type && task["index"] == i) placement.rank = ranks;
    }
  }
  if (placement.rank < 0) return refuse("has a task that is no worker of its cluster: parameter servers are not measured");
  placement.world_size = ranks;
  return placement;
}

}  // namespace

std::string first_of_nodes(const std::string& list) {
  const std::size_t bracket = list.find('[');
  const std::size_t comma = list.find(',');
  if (bracket == std::string::npos || comma < bracket) return list.substr(0, comma);
  return list.substr(0, bracket) + list.substr(bracket + 1, list.find_first_of("-,]", bracket) - bracket - 1);
}

Variables environment_variables() {
  Variables variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
}

Placement read_placement(const Variables& variables) {
  std::optional<Placement> found;
  const Dialect* source = nullptr;
  const std::vector<Dialect> candidates = starters(variables);
  for (const Dialect& dialect : candidates) {
    const std::optional<Placement> other = read(variables, dialect);
    if (!other) continue;
    if (found) {
      must_agree(*found, *source, *other, dialect);
    } else {
      found = other;
      source = &dialect;
    }
  }
  if (!found) return tensorflow_placement(variables);
  find_master(variables, *found);
  return *found;
}

}  // namespace ddbench::launch
