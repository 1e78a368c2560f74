#pragma once

#include <map>
#include <string>
#include <string_view>

#include "core/run_case/run_case.h"

namespace ddbench::imports {

enum class FieldType { kText, kInteger, kNumber, kMap };

/// The fields of RunCase by name, as to_json has them: a new field can be imported at once.
const std::map<std::string, FieldType>& case_fields();

/// Why `text` is not a value of this type; empty when it is one.
std::string wrong_with(FieldType type, std::string_view text);

/// Whether the field of this name is a label: "name", "tags.team".
bool is_label(std::string_view name) noexcept;

/// Gives the case those of these fields that are labels. Invalid UTF-8 in them is replaced.
void set_labels(RunCase& run_case, const std::map<std::string, std::string>& fields);

/// The case with these fields ("seed", "tags.team", ...), all others at their defaults; those that name how the engine
/// trains (precision, strategy, device, backend, optimizer) are empty instead, and the workload is "unnamed". The texts have been
/// checked.
RunCase case_from(const std::map<std::string, std::string>& fields);

}  // namespace ddbench::imports
