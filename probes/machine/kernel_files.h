#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/measured.h"

namespace ddbench::host {

/// The text of a /proc or /sys file, trimmed, or the reason why it cannot be read. An empty file counts as
/// one without a value.
Measured<std::string> read_text(const std::filesystem::path& file);

/// The same as a number; a text that is none is the reason.
Measured<std::int64_t> read_number(const std::filesystem::path& file);

/// Names in a directory, sorted; none when it is not there.
std::vector<std::string> list_names(const std::filesystem::path& directory);

std::string_view trimmed(std::string_view text) noexcept;
std::vector<std::string_view> split(std::string_view text, char separator);
/// At white space, without empty words.
std::vector<std::string_view> words(std::string_view text);

/// The trimmed text after "<key> :" on the first line that has it ("model name", "MemTotal").
std::optional<std::string_view> field(std::string_view text, std::string_view key);

/// "0-3,8" -> 0, 1, 2, 3, 8; what makes no sense is skipped.
std::vector<int> parse_core_list(std::string_view text);

}  // namespace ddbench::host
