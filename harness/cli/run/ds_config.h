#pragma once

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace ddbench::cli {

/// An option that a field of DeepSpeed's configuration stands for: {"zero_optimization.stage", "--strategy", "zero2"}.
struct DsOption {
  std::string field;
  std::string option;
  std::string value;
  bool is_default = false;  ///< DeepSpeed's, of a field that the file does not state: an option that was given has precedence
};

struct DsConfig {
  std::vector<DsOption> options;
  std::vector<std::string> notes;  ///< what was not read or is not stated, for people
};

/// Reads ds_config.json for a reference workload on `ranks` ranks (0: not known yet). Sizes of buckets are elements there, of float32
/// here. "auto" leaves an option as it is; what is missing of ZeRO is as DeepSpeed has it. Throws Error{kBadInput} that names the file, the field, its value and what it may be: no
/// JSON, another type, fields that contradict each other, and what ddbench does not train (offload, other optimizers).
DsConfig read_ds_config(const std::string& file, int ranks);

/// Gives the options of `command` the values of the file, as if they had been written. Throws Error{kBadInput} naming option and
/// field where one was given with another value. Notes go to standard error, and name DeepSpeed's defaults that were taken.
void apply_ds_config(CLI::App& command, const std::string& file, int ranks);

}  // namespace ddbench::cli
