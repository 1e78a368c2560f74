#pragma once

#include <string>
#include <string_view>

namespace ddbench {

/// "lr is 0.1 there and 0.05 here": the fields in which two cases differ, both given as case_key has them.
/// Empty for one case. Throws Error{kBadInput} for what is no JSON object.
std::string case_differences(std::string_view there, std::string_view here);

}  // namespace ddbench
