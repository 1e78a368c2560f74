#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/store/rows/run_store.h"

namespace ddbench::analyzer {

/// A condition on a field of a run: its name (run_fields) and the value it must have.
struct FieldCondition {
  std::string field;
  std::string value;
};

/// "name=main,nodes=4", as `--where` and references take it: every condition must hold. A comma inside a
/// value is written
/// "\,". Throws Error{kBadInput} that says what is allowed on an unknown field, on a value that the field
/// cannot have, and on text that is no list of conditions.
std::vector<FieldCondition> parse_conditions(std::string_view text);

bool matches(const store::RunRecord& run, const std::vector<FieldCondition>& conditions);

/// All runs that match, oldest first. Runs that are only another run's baseline are left out unless a
/// condition asks for is_baseline. `limit` above 0: only as many of the newest.
std::vector<store::RunRecord> runs_where(const store::RunStore& store,
                                         const std::vector<FieldCondition>& conditions,
                                         std::size_t limit = 0);

/// The runs that a reference stands for.
struct ResolvedReference {
  std::string reference;               ///< as given
  std::string meaning;                 ///< in words: "named baseline main, version 3", "runs with name=main"
  std::vector<store::RunRecord> runs;  ///< oldest first; empty when nothing matches
  std::string missing;                 ///< why there are none
  std::string named_baseline;          ///< its name, when it is one
  std::vector<store::RunRecord> earlier;  ///< of a named baseline: the runs of its earlier versions
};

/// `reference` is, tried in this order: a list of conditions (it holds a "="), "last", a named baseline, a
/// run id, a sweep id, a part of one (4 characters or more, unique), a run name. Throws Error{kBadInput} when
/// it is no reference at all, is ambiguous, or holds an impossible condition. A good reference that matches
/// nothing is no error here.
ResolvedReference resolve_reference(const store::RunStore& store, std::string_view reference);

}  // namespace ddbench::analyzer
