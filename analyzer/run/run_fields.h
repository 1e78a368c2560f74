#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/run_case/records.h"

namespace ddbench::analyzer {

struct RunField {
  std::string text;  ///< as people write it: strings without quotes, numbers in their shortest form
  bool numeric = false;
  bool defines = true;  ///< false: labels a run and defines nothing (name, tags, id, ...)
};

/// Every field of a run that can be asked for or compared, by name: those of RunCase (maps as
/// "workload_options.hidden", "tags.team"), world_size, and of the record id, state, valid, sweep,
/// repetition, is_baseline, host, network, fingerprint and provenance.
std::map<std::string, RunField> run_fields(const store::RunRecord& run);

/// All fields that define a run, as one text: equal for runs of the same case on the same hardware and
/// network.
std::string defining_key(const store::RunRecord& run);

/// The names that every run has; names that end in "." stand for a map's keys.
const std::map<std::string, RunField>& known_run_fields();

/// Whether `name` is one of known_run_fields, or a key of one of its maps.
bool is_run_field(std::string_view name);

}  // namespace ddbench::analyzer
