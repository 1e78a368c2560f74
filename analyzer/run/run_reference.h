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

/// Parses "name=main,nodes=4", the form that `--where` and references use: every condition must hold. A comma
/// inside a value is written "\,". Throws Error{kBadInput} stating the allowed values, for an unknown field,
/// an impossible value, and text that is not a list of conditions.
std::vector<FieldCondition> parse_conditions(std::string_view text);

bool matches(const store::RunRecord& run, const std::vector<FieldCondition>& conditions);

/// All runs that match, oldest first. Runs that are only another run's baseline are left out unless a
/// condition names is_baseline. `limit` above 0: only that many of the newest.
std::vector<store::RunRecord> runs_where(const store::RunStore& store,
                                         const std::vector<FieldCondition>& conditions,
                                         std::size_t limit = 0);

/// The runs to which a reference resolves.
struct ResolvedReference {
  std::string reference;               ///< as given
  std::string meaning;                 ///< in words: "named baseline main, version 3", "runs with name=main"
  std::vector<store::RunRecord> runs;  ///< oldest first; empty when nothing matches
  std::string missing;                 ///< the reason if there are none
  std::string named_baseline;          ///< its name, when it is one
  std::vector<store::RunRecord> earlier;  ///< of a named baseline: the runs of its earlier versions
};

/// `reference` is interpreted as, in this order: a list of conditions (it contains a "="), "last", a named
/// baseline, a run id, a sweep id, a part of one (4 characters or more, unique), a run name. Throws
/// Error{kBadInput} when it cannot be a reference, is ambiguous, or contains an impossible condition. A valid
/// reference that matches nothing is not an error here.
ResolvedReference resolve_reference(const store::RunStore& store, std::string_view reference);

}  // namespace ddbench::analyzer
