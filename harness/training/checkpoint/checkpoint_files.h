#pragma once

#include <filesystem>
#include <string>

#include "harness/training/checkpoint/safetensors.h"

namespace ddbench::ddp {

/// "step-00000100"
std::string checkpoint_name(std::uint32_t steps_done);
/// What it is called until it is whole.
std::string partial_checkpoint_name(std::uint32_t steps_done);
std::filesystem::path parameters_file(const std::filesystem::path& checkpoint);
std::filesystem::path state_file(const std::filesystem::path& checkpoint, int rank);

/// Metadata of the parameters' file: how many files with the optimizer's state belong to it.
inline constexpr const char* kStateFiles = "state_files";

/// The whole checkpoints of a folder, newest first.
std::vector<std::filesystem::path> list_checkpoints(const std::filesystem::path& directory);

/// Removes the checkpoint, files in it that ddbench did not write excepted: false when there are some. Throws
/// Error{kEnvironment}.
bool remove_checkpoint(const std::filesystem::path& checkpoint);

/// The metadata in every file.
Metadata checkpoint_metadata(const RunCase& run_case, std::uint32_t steps_done);
std::uint32_t steps_done_of(const SafetensorsFile& file);

}  // namespace ddbench::ddp
