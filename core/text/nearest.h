#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ddbench {

/// The candidate that was probably meant: one begins with the word, or differs in at most a third of its
/// letters (inserted, deleted, replaced, or swapped with their neighbour). Empty where none does.
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace ddbench
