#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "reports/formats/terminal/text.h"

namespace ddbench::cli {

/// Writes to standard output. A reader that went away (`| head`) or a terminal that was closed is no error; a
/// full disk is Error{kRunFailed}, found by flush_output at the latest.
void print(std::string_view text);
void flush_output();

/// As print(): on one line, in ASCII. Bytes of names that are no UTF-8 become U+FFFD.
void print_json(const nlohmann::ordered_json& json);

/// Writes to standard error. Nothing happens when it cannot be written to: its terminal may have been closed.
void print_error(std::string_view text) noexcept;

/// Colours on a terminal without NO_COLOR; the width is COLUMNS (40 or more), else the terminal's, else 100.
reports::TextStyle stdout_style();

/// `text` with what reports::visible() shows of each line: control, invisible and direction-changing characters and invalid UTF-8 do
/// nothing to a terminal. Messages may quote what users and stores gave us.
std::string printable(std::string_view text);

/// `--db`, else the default store.
std::filesystem::path store_path(const std::string& db_option);

/// Path of the running executable.
std::filesystem::path own_executable();

}  // namespace ddbench::cli
