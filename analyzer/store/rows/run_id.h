#pragma once

#include <string_view>

namespace ddbench::store {

/// Whether it is 1 to 64 letters, digits, - and _, the first a letter or digit. Ids name folders beside a
/// store (of logs, of checkpoints), so every id that is read from a file is checked.
bool is_run_id(std::string_view text) noexcept;
/// Throws Error{kBadInput} unless it is one.
void check_run_id(std::string_view text);

}  // namespace ddbench::store
