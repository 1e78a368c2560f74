#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/run_case/case_fields.h"

namespace ddbench {

/// A field in which two cases differ, or two runs.
struct FieldDifference {
  std::string field;  ///< "nodes", "workload_options.hidden", "fingerprint", "network", ...
  /// Declared with the field; but a consequence none of whose causes differs is kEnvironment.
  FieldRole role = FieldRole::kIdentity;
  std::string a;  ///< empty where it is empty or absent
  std::string b;
};

/// The one comparison of cases: every field in which they differ, in the order of names, but for labels. The edited files of a
/// program are one field, "script", with names and hashes as text.
std::vector<FieldDifference> case_diff(const CaseFields& a, const CaseFields& b);
std::vector<FieldDifference> case_diff(const RunCase& a, const RunCase& b);

/// "lr is 0.1 there and 0.05 here": the fields in which two cases differ, both given as case_key has them.
/// Empty for one case. Throws Error{kBadInput} for what is no JSON object.
std::string case_differences(std::string_view there, std::string_view here);

/// "nothing" for an empty text, else the text in quotes.
std::string quoted_or_nothing(std::string_view text);

}  // namespace ddbench
