#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace ddbench {

using WorkOptions = std::map<std::string, std::string>;  ///< e.g. {"hidden", "512,512"}

/// A reference workload, or what an imported run trained.
struct ReferenceWorkload {
  std::string name = "mlp";
  WorkOptions options = {};
  bool batch_is_known = true;  ///< false: an imported source states no batch; batch_per_gpu is 1 and has no meaning
  friend bool operator==(const ReferenceWorkload&, const ReferenceWorkload&) = default;
};

/// Whether a program is started once a rank, or once a node to start its ranks by itself (mpirun, torchrun).
enum class ProgramStart : std::uint8_t { kPerRank, kPerNode };

/// A program of the user's: `ddbench run -- COMMAND`.
struct UserProgram {
  std::vector<std::string> command;  ///< empty where a stored case lacks it
  ProgramStart start = ProgramStart::kPerRank;
  bool python_marks = true;      ///< Python programs are given marks (probes/python)
  bool one_is_stated = false;    ///< the user stated a batch per GPU of 1, else it means none
  friend bool operator==(const UserProgram&, const UserProgram&) = default;
};

/// `ddbench micro`: collectives by size, and no training. Its options are those of micro::MicroOptions.
struct Microbenchmark {
  WorkOptions options;
  friend bool operator==(const Microbenchmark&, const Microbenchmark&) = default;
};

/// Imported results of nccl-tests, by its own names.
struct NcclTests {
  std::string function;  ///< "all_reduce"
  std::string place;     ///< "in_place", "out_of_place"
  std::string redop;     ///< "sum", "none"
  std::string type;      ///< "float"
  friend bool operator==(const NcclTests&, const NcclTests&) = default;
};

/// What a run does.
using Work = std::variant<ReferenceWorkload, UserProgram, Microbenchmark, NcclTests>;

/// The name of the workload; "program", "micro" or "nccl-tests" for the rest.
std::string work_name(const Work& work);

/// The other values that distinguish this work from others of its name, in the form of stored cases and
/// comparisons.
WorkOptions work_options(const Work& work);

/// Inverse of the two. Throws Error{kBadInput} for an option that the work does not have, and for a program whose command
/// is no JSON list of texts.
Work make_work(const std::string& name, WorkOptions options);

}  // namespace ddbench
