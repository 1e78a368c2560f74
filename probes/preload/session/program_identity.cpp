#include "probes/preload/session/program_identity.h"

#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>

#include "core/program_file.h"

namespace ddbench::inject {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> arguments_of_process() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  for (std::string argument; std::getline(file, argument, '\0');) arguments.push_back(argument);
  return arguments;
}

/// The script among a Python's arguments; empty where it runs a module (-m) or a text (-c), which the command names.
fs::path script_of_python(const std::vector<std::string>& arguments) {
  for (std::size_t i = 1; i < arguments.size(); ++i) {
    const std::string& argument = arguments[i];
    if (argument == "-W" || argument == "-X" || argument == "--check-hash-based-pycs") {
      ++i;  // its value
    } else if (argument.empty() || argument[0] != '-') {
      return argument;
    } else if (argument[1] != '-' && (argument.back() == 'c' || argument.back() == 'm')) {
      return {};
    }
  }
  return {};
}

bool is_python(const fs::path& executable) {
  const std::string name = executable.filename().string();
  return name.starts_with("python") || name.starts_with("pypy");
}

}  // namespace

std::vector<std::string> names_of_file(const std::string& folder, const std::string& name) {
  const auto file = read_program_file(name, (fs::path(folder) / name).string());
  if (!file) return {};
  return {program_folder_name(folder), program_file_name(*file)};
}

std::vector<std::string> names_of_own_files() {
  std::error_code error;
  fs::path file = fs::read_symlink("/proc/self/exe", error);
  if (!error && is_python(file)) file = fs::absolute(script_of_python(arguments_of_process()), error);
  if (error || !file.has_filename()) return {};
  return names_of_file(file.parent_path().string(), file.filename().string());
}

}  // namespace ddbench::inject
