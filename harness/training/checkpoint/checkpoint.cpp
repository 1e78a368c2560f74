#include "harness/training/checkpoint/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>

#include "core/error.h"
#include "core/files/owned_directory.h"
#include "core/run_case/case_diff.h"
#include "core/text/number.h"
#include "harness/training/checkpoint/checkpoint_files.h"

namespace ddbench::ddp {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kPartialPrefix = ".step-";
constexpr const char* kCase = "case";
constexpr const char* kStepsDone = "steps_done";

constexpr std::string_view kPartialSuffix = ".partial";
constexpr std::string_view kParameters = "parameters.safetensors";
constexpr std::string_view kStatePrefix = "state-";
constexpr std::string_view kFileSuffix = ".safetensors";
constexpr std::size_t kStepDigits = 8;  // at least

/// What stands between; nothing when `text` has neither or something in it is no digit.
std::string_view digits_between(std::string_view text, std::string_view prefix, std::string_view suffix) {
  if (text.size() < prefix.size() + suffix.size()) return {};
  if (!text.starts_with(prefix) || !text.ends_with(suffix)) return {};
  text = text.substr(prefix.size(), text.size() - prefix.size() - suffix.size());
  const bool all = std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  return all ? text : std::string_view();
}

bool is_whole_name(std::string_view name) {
  return digits_between(name, kPrefix, "").size() >= kStepDigits;
}

bool is_partial_name(std::string_view name) {
  return digits_between(name, kPartialPrefix, kPartialSuffix).size() >= kStepDigits;
}

bool is_file_name(std::string_view name) {
  return name == kParameters || !digits_between(name, kStatePrefix, kFileSuffix).empty();
}

void check_case(const SafetensorsFile& file, const fs::path& folder, const RunCase& run_case) {
  const std::string& theirs = file.required(kCase);
  std::string differ;
  try {
    differ = case_differences(theirs, case_key(run_case));
  } catch (const Error& unreadable) {
    differ = unreadable.message();
  }
  if (differ.empty()) return;
  throw Error(ErrorCode::kBadInput,
              fmt::format("the checkpoint {} is of another run: {}", folder.string(), differ), 0, kCase);
}

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files{parameters_file(folder)};
  constexpr int kMostRanks = 65536;
  const auto said = number_from<int>(SafetensorsFile(files.front()).required(kStateFiles));
  const int state_files = std::clamp(said.value_or(1), 1, kMostRanks);
  for (int rank = 0; rank < state_files; ++rank) files.push_back(state_file(folder, rank));
  return files;
}

/// Throws Error{kBadInput} with the reason; for kCase in `where` if the checkpoint belongs to another run.
void check(const fs::path& folder, const RunCase& run_case) {
  for (const fs::path& path : files_of(folder)) {
    const SafetensorsFile file(path);
    file.check_data();
    check_case(file, folder, run_case);
    if (checkpoint_name(steps_done_of(file)) == folder.filename().string()) continue;
    throw Error(ErrorCode::kBadInput,
                fmt::format("{} is of {}", path.string(), checkpoint_name(steps_done_of(file))));
  }
}

}  // namespace

std::string checkpoint_name(std::uint32_t steps_done) {
  return fmt::format("{}{:08}", kPrefix, steps_done);
}

std::string partial_checkpoint_name(std::uint32_t steps_done) {
  return fmt::format(".{}.partial", checkpoint_name(steps_done));
}

fs::path parameters_file(const fs::path& checkpoint) {
  return checkpoint / kParameters;
}

fs::path state_file(const fs::path& checkpoint, int rank) {
  return checkpoint / fmt::format("state-{}.safetensors", rank);
}

Metadata checkpoint_metadata(const RunCase& run_case, std::uint32_t steps_done) {
  return {{kCase, case_key(run_case)}, {kStepsDone, std::to_string(steps_done)}};
}

std::uint32_t steps_done_of(const SafetensorsFile& file) {
  return number_from<std::uint32_t>(file.required(kStepsDone)).value_or(0);
}

std::vector<fs::path> list_checkpoints(const fs::path& directory) {
  std::vector<fs::path> found;
  std::error_code missing;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, missing)) {
    if (is_whole_name(entry.path().filename().string())) found.push_back(entry.path());
  }
  std::sort(found.rbegin(), found.rend());
  return found;
}

std::uint32_t steps_done_at(const fs::path& checkpoint) {
  const std::string name = checkpoint.filename().string();
  return number_from<std::uint32_t>(digits_between(name, kPrefix, "")).value_or(0);
}

bool has_checkpoint(const fs::path& directory) {
  return !list_checkpoints(directory).empty();
}

Checkpoint find_checkpoint(const fs::path& directory, const RunCase& run_case) {
  Checkpoint checkpoint;
  for (const fs::path& folder : list_checkpoints(directory)) {
    try {
      check(folder, run_case);
      checkpoint.folder = folder;
      checkpoint.steps_done = steps_done_of(SafetensorsFile(parameters_file(folder)));
      return checkpoint;
    } catch (const Error& error) {
      if (error.where() == kCase) throw;
      checkpoint.damaged.push_back(error.message());
    }
  }
  std::string what = fmt::format("there is no checkpoint to continue from in {}", directory.string());
  for (const std::string& damage : checkpoint.damaged) what += "; " + damage;
  throw Error(ErrorCode::kBadInput, what, 0, directory.string());
}

bool is_checkpoint_file(const std::string& relative_path) {
  const std::size_t slash = relative_path.find('/');
  if (slash == std::string::npos) return false;
  const std::string_view folder = std::string_view(relative_path).substr(0, slash);
  const std::string_view file = std::string_view(relative_path).substr(slash + 1);
  return (is_whole_name(folder) || is_partial_name(folder)) && (file.empty() || is_file_name(file));
}

bool remove_checkpoint(const fs::path& checkpoint) {
  const auto folder = OwnedDirectory::open(checkpoint);
  return !folder || folder->remove(is_file_name);
}

void remove_partial_checkpoints(const fs::path& directory) noexcept try {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored)) {
    if (!is_partial_name(entry.path().filename().string())) continue;
    try {
      remove_checkpoint(entry.path());
    } catch (const Error&) {
      // It stays: it is never mistaken for a checkpoint.
    }
  }
} catch (const std::exception&) {
  // The folder cannot be read any further: what is left stays.
}

}  // namespace ddbench::ddp
