#include "harness/launch/transfer/shipped_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <vector>

#include "core/error.h"
#include "core/unique_handle.h"

namespace ddbench::launch {
namespace {

constexpr std::string_view kRankMark = "-rank";  // in the name of a rank's directory, after the run's id

bool is_shipped(const std::filesystem::path& file) {
  return file.extension() == ".spool" || file.extension() == ".log";
}

bool is_file_of(int rank, const std::string& name) {
  const bool plain = std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.';
  });
  return plain && name.starts_with(fmt::format("rank{}.", rank)) && is_shipped(name);
}

}  // namespace

void keep_chunk(const std::filesystem::path& run_directory, int rank, const FileChunk& chunk) {
  if (!is_file_of(rank, chunk.name)) {
    throw Error(ErrorCode::kRunFailed,
                fmt::format("it sent a file \"{}\", which is none of its own", chunk.name), 0, chunk.name);
  }
  const std::filesystem::path path = run_directory / chunk.name;
  const UniqueFd file(static_cast<int>(
      check_posix(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600),
                  fmt::format("cannot write {}", path.string()), ErrorCode::kEnvironment)));
  for (std::size_t written = 0; written < chunk.bytes.size();) {
    const ssize_t count = ::write(file.get(), chunk.bytes.data() + written, chunk.bytes.size() - written);
    if (count < 0 && errno == EINTR) continue;
    check_posix(count, fmt::format("cannot write {}", path.string()), ErrorCode::kEnvironment);
    written += static_cast<std::size_t>(count);
  }
}

void remove_files_of_killed_ranks() {
  const auto is_of_a_run = [](const std::filesystem::path& directory) {
    const std::string name = directory.filename().string();
    const std::size_t at = name.rfind(kRankMark);
    const std::string_view number = at == std::string::npos ? std::string_view() : std::string_view(name).substr(at + kRankMark.size());
    return number.empty() || number.find_first_not_of("0123456789") != std::string_view::npos;
  };
  remove_abandoned(temporary_root(), "", is_of_a_run);
}

void ShippedFiles::open(const std::string& run_id, int rank) {
  const std::lock_guard lock(mutex_);
  remove_files_of_killed_ranks();
  directory_.emplace(temporary_root(), fmt::format("{}{}{}", run_id, kRankMark, rank));
  run_id_ = run_id;
  rank_ = rank;
  const std::filesystem::path log = file("log");
  const UniqueFd output(
      static_cast<int>(check_posix(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600),
                                   fmt::format("cannot write {}", log.string()), ErrorCode::kEnvironment)));
  ::dup2(output.get(), STDOUT_FILENO);
  ::dup2(output.get(), STDERR_FILENO);
}

void ShippedFiles::reduce_spool(StepSampler sampler) {
  const std::lock_guard lock(mutex_);
  sampler_ = sampler;
}

std::filesystem::path ShippedFiles::spool() const {
  return file(sampler_ ? "whole" : "spool");
}

std::filesystem::path ShippedFiles::file(const char* extension) const {
  return directory_->path() / fmt::format("rank{}.{}", rank_, extension);
}

void ShippedFiles::follow_spool(bool is_rest) {
  if (!sampler_ || !std::filesystem::exists(spool())) return;
  if (!reduced_) reduced_.emplace(spool(), file("spool"), run_id_, rank_, *sampler_);
  reduced_->follow(is_rest);
}

void ShippedFiles::discard() noexcept {
  // Not under the lock: its holder may be sending to a launcher that is gone. The directory is created before
  // there is anything to send, and does not change.
  if (directory_) directory_->remove();
}

bool ShippedFiles::ship(std::size_t most_bytes, bool is_rest) {
  const std::lock_guard lock(mutex_);
  if (!directory_) return true;
  follow_spool(is_rest);
  bool all = true;
  for (const auto& entry : std::filesystem::directory_iterator(directory_->path())) {
    if (is_shipped(entry.path())) all = ship_file(entry.path(), most_bytes) && all;
  }
  return all;
}

/// Subtracts the bytes sent from `left`.
bool ShippedFiles::ship_file(const std::filesystem::path& path, std::size_t& left) {
  const std::string name = path.filename();
  std::uint64_t& sent = sent_bytes_[name];
  const UniqueFd file(static_cast<int>(
      check_posix(::open(path.c_str(), O_RDONLY | O_CLOEXEC), "cannot read " + path.string())));
  while (left > 0) {
    FileChunk chunk{name, collective::Bytes(std::min(FileChunk::kMostBytes, left))};
    const auto count = static_cast<std::size_t>(
        check_posix(::pread(file.get(), chunk.bytes.data(), chunk.bytes.size(), static_cast<off_t>(sent)),
                    "cannot read " + path.string()));
    if (count == 0) return true;
    chunk.bytes.resize(count);
    send_(chunk);
    sent += count;
    left -= count;
  }
  return false;
}

}  // namespace ddbench::launch
