#include "ddbench/ddp/checkpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "checkpoint_files.h"
#include "ddbench/record/error.h"

namespace ddbench::ddp {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr std::string_view kPrefix = "step-";
constexpr std::string_view kPartialPrefix = ".step-";
constexpr const char* kCase = "case";
constexpr const char* kStepsDone = "steps_done";

/// "lr is 0.1 there and 0.05 here"; empty for the same case.
std::string differences(const std::string& there, const std::string& here) {
  std::string text;
  const Json theirs = Json::parse(there);
  const Json ours = Json::parse(here);
  for (const auto& [key, value] : ours.items()) {
    const Json other = theirs.value(key, Json());
    if (other == value) continue;
    text += fmt::format("{}{} is {} there and {} here", text.empty() ? "" : ", ", key, other.dump(),
                        value.dump());
  }
  return text;
}

void check_case(const SafetensorsFile& file, const fs::path& folder, const RunCase& run_case) {
  std::string differ;
  try {
    differ = differences(file.required(kCase), case_key(run_case));
  } catch (const Json::exception&) {
    differ = "its case cannot be read";
  }
  if (differ.empty()) return;
  throw Error(ErrorCode::kBadInput,
              fmt::format("the checkpoint {} is of another run: {}", folder.string(), differ), 0, kCase);
}

std::vector<fs::path> files_of(const fs::path& folder) {
  std::vector<fs::path> files{parameters_file(folder)};
  const int state_files = std::atoi(SafetensorsFile(files.front()).required(kStateFiles).c_str());
  for (int rank = 0; rank < std::max(1, state_files); ++rank) files.push_back(state_file(folder, rank));
  return files;
}

/// Throws Error{kBadInput} that says what is wrong; of kCase in `where` when it is another run's.
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
  return checkpoint / "parameters.safetensors";
}

fs::path state_file(const fs::path& checkpoint, int rank) {
  return checkpoint / fmt::format("state-{}.safetensors", rank);
}

Metadata checkpoint_metadata(const RunCase& run_case, std::uint32_t steps_done) {
  return {{kCase, case_key(run_case)}, {kStepsDone, std::to_string(steps_done)}};
}

std::uint32_t steps_done_of(const SafetensorsFile& file) {
  const std::string& text = file.required(kStepsDone);
  std::uint32_t steps_done = 0;
  std::from_chars(text.data(), text.data() + text.size(), steps_done);
  return steps_done;
}

std::vector<fs::path> list_checkpoints(const fs::path& directory) {
  std::vector<fs::path> found;
  std::error_code missing;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, missing)) {
    if (entry.path().filename().string().rfind(kPrefix, 0) == 0) found.push_back(entry.path());
  }
  std::sort(found.rbegin(), found.rend());
  return found;
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

void remove_partial_checkpoints(const fs::path& directory) noexcept {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(directory, ignored)) {
    if (entry.path().filename().string().rfind(kPartialPrefix, 0) == 0) fs::remove_all(entry.path(), ignored);
  }
}

}  // namespace ddbench::ddp
