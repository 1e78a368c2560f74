#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

#include "core/error.h"

// toml++ asserts, or in builds without assertions has the compiler assume, that a key follows "[", before it looks whether one
// does ("[" and a line's end). What it does without the assertion is right. Includes slowly: only for files that read TOML.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expression) static_cast<void>(0)
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

namespace ddbench {

/// Throws Error{kBadInput} that names the file, the line and what is wrong there.
inline toml::table parse_toml(std::string_view text, std::string_view file) {
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    throw Error(ErrorCode::kBadInput,
                fmt::format("{}:{}: this is no TOML: {}", file, error.source().begin.line, error.description()), 0,
                std::string(file));
  }
}

}  // namespace ddbench
