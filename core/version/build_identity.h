#pragma once

#include <string_view>

namespace ddbench {

/// Of this program: "0.2.0".
std::string_view build_version() noexcept;

/// The commit that it was built from: "57bbe30c1d2e", with "+" where files differed from it; "unknown" outside of a repository.
std::string_view build_commit() noexcept;

}  // namespace ddbench
