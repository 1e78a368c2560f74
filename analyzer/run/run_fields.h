#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/run_case/case_fields.h"
#include "core/run_case/records.h"

namespace ddbench::analyzer {

/// Every field of a run that can be queried or compared, by name: those of RunCase (maps as
/// "workload_options.hidden", "tags.team"), the network, fingerprint and provenance of the record, the labels
/// id, state, valid, sweep, repetition, is_baseline and host, and derived fields: world_size and
/// global_batch. For programs also the hashes of their files (core/run_case/program_files.h), as
/// "script.train.py".
CaseFields run_fields(const store::RunRecord& run);

/// All fields that define a run, as one text: equal for runs of the same case on the same hardware and
/// network. Files of a program are not included: otherwise runs that do not record them would differ from
/// those that do.
std::string defining_key(const store::RunRecord& run);

/// The names that every run has; names that end in "." stand for a map's keys.
const CaseFields& known_run_fields();

/// Whether `name` is one of known_run_fields, or a key of one of its maps.
bool is_run_field(std::string_view name);

/// For an error about `name`, which is no field of a run: "did you mean gpus_per_node?", or "the fields are ..." where none is like it.
std::string fields_instead_of(std::string_view name);

/// What runs of one group may differ in, beside labels.
struct VariedFields {
  std::set<FieldRole> roles;
  std::set<std::string> names = {};  ///< "workload_options" stands for all of its keys
};

/// Points of one scaling curve may differ in size, in length, and in detected (not requested) fields.
inline const VariedFields kWithinCurve{
    {FieldRole::kScale, FieldRole::kSampling, FieldRole::kEnvironment, FieldRole::kConsequence}};

/// Whether a field has a meaning for a run: a run on one node uses no link and no network; strong scaling has
/// a global batch, weak scaling one per GPU.
bool applies(const store::RunRecord& run, std::string_view field);

/// Whether the value of a field of the case is one of the run, for people to read. False for a default of the reference engine that a
/// program, a collective test or an imported source says nothing about (its learning rate, its buckets, ...), for a batch that nobody stated,
/// and for the numbers of steps of a run that has its own. Unlike applies(), it changes no grouping.
bool has_meaning(const RunCase& run_case, ProvenanceSet provenance, std::string_view field);

/// The fields that runs of one group have in common, with their texts: all except labels and varied fields.
/// With strong scaling global_batch replaces batch_per_gpu; other fields that do not apply are empty.
std::map<std::string, std::string> group_fields(const store::RunRecord& run, const VariedFields& varied);

/// The names of group_fields in which these runs differ where they apply, with the number of runs that have
/// each value.
std::map<std::string, std::map<std::string, int>> differing_fields(std::span<const store::RunRecord> runs,
                                                                   const VariedFields& varied);

/// The name of a field as a reader's words: "batch per GPU", "hidden" for "workload_options.hidden".
std::string field_in_words(std::string_view name);

}  // namespace ddbench::analyzer
