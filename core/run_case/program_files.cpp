#include "core/run_case/program_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string_view>

namespace ddbench {
namespace {

/// "bash", "/bin/sh", "dash".
bool is_shell(std::string_view program) {
  program.remove_prefix(program.rfind('/') + 1);  // npos + 1 is 0
  return program == "sh" || program == "bash" || program == "dash" || program == "ksh" || program == "zsh";
}

/// Whether the file begins with "#!" and a shell: "#!/bin/sh -e", "#!/usr/bin/env bash".
bool names_a_shell(const std::string& path) {
  std::ifstream file(path);
  std::string interpreter;
  std::string argument;
  if (file.get() != '#' || file.get() != '!') return false;
  std::string line(256, '\0');
  file.get(line.data(), static_cast<std::streamsize>(line.size()));  // a binary has no end of line
  std::istringstream words(line.c_str());
  words >> interpreter >> argument;
  return is_shell(interpreter) || (interpreter.ends_with("/env") && is_shell(argument));
}

}  // namespace

ProgramFiles shell_script_of(const std::vector<std::string>& command) {
  if (command.empty()) return {};
  std::string script = command[0];
  if (is_shell(command[0])) {
    const auto first = std::find_if(command.begin() + 1, command.end(), [](const auto& word) { return !word.starts_with('-'); });
    const bool has_text = std::any_of(command.begin() + 1, first, [](const auto& word) { return word.ends_with('c'); });
    if (first == command.end() || has_text) return {};
    script = *first;
  } else if (script.find('/') == std::string::npos || !names_a_shell(script)) {
    return {};
  }
  const auto file = read_program_file(std::filesystem::path(script).filename().string(), script);
  return file ? ProgramFiles{{file->name, file->hash}} : ProgramFiles{};
}

ProgramFiles program_files(const Facts& facts) {
  ProgramFiles files;
  const auto entries = get_fact(facts, fact_key<"program.files">);
  if (!entries) return files;
  for (const std::string& entry : *entries) {
    const auto blank = entry.rfind(' ');
    if (blank == std::string::npos || blank == 0 || blank + 1 == entry.size()) continue;
    files.emplace(entry.substr(0, blank), entry.substr(blank + 1));
  }
  return files;
}

void set_program_files(Facts& facts, const ProgramFiles& files) {
  std::vector<std::string> entries;
  for (const auto& [name, hash] : files) entries.push_back(name + " " + hash);
  if (!entries.empty()) set_fact(facts, fact_key<"program.files">, entries);
}

std::vector<std::string> changed_files(const ProgramFiles& a, const ProgramFiles& b) {
  std::vector<std::string> changed;
  for (const auto& [name, hash] : a) {
    const auto other = b.find(name);
    if (other != b.end() && other->second != hash) changed.push_back(name);
  }
  return changed;
}

std::vector<std::string> changed_files(const Facts& a, const Facts& b) {
  return changed_files(program_files(a), program_files(b));
}

std::vector<std::string> files_changed_since(const Facts& facts) {
  const auto folder = get_fact(facts, fact_key<"program.folder">);
  if (!folder) return {};
  const ProgramFiles then = program_files(facts);
  ProgramFiles now;
  for (const auto& [name, hash] : then) {
    const auto file = read_program_file(name, (std::filesystem::path(*folder) / name).string());
    if (file) now.emplace(file->name, file->hash);
  }
  return changed_files(then, now);
}

std::string files_in_words(const std::vector<std::string>& names) {
  if (names.empty()) return {};
  if (names.size() == 1) return names[0];
  if (names.size() == 2) return fmt::format("{} and {}", names[0], names[1]);
  return fmt::format("{}, {} and {} more", names[0], names[1], names.size() - 2);
}

}  // namespace ddbench
