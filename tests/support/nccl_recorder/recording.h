#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "recorded_call.h"

namespace ddbench::nccl_recorder {

/// Where a handle or a context comes from: its call, or what it was where no call returned it. Null: neither.
struct Reference {
  std::optional<std::uint64_t> call;
  void* address = nullptr;
};

/// A line of a recording (recorded_call.h).
struct RecordedCall {
  std::size_t line = 0;  ///< in the file, from 1
  std::int64_t time_ns = 0;
  std::size_t thread = 0;
  int version = 0;
  std::string call;
  bool returned = false;  ///< something that is not null
  Json fields;

  bool is(const char* name) const { return call == name; }
  std::uint64_t type() const;  ///< of a startEvent: its bit
  Reference reference(const char* name) const;
};

/// A recording that was read: its calls by their numbers. What is pointed to in events lives as long as it.
class Recording {
 public:
  /// Throws std::runtime_error, with the file and the line, for what is no recording of this format. A last
  /// line that is cut short is left out.
  explicit Recording(const std::filesystem::path& file);

  const std::vector<RecordedCall>& calls() const noexcept { return calls_; }
  std::size_t threads() const noexcept { return threads_; }

 private:
  void add(const std::string& text, std::size_t line);
  void check(const RecordedCall& call) const;
  void check_reference(const RecordedCall& call, const char* name, const char* returned_by) const;

  std::vector<RecordedCall> calls_;
  std::size_t threads_ = 0;
};

/// What NCCL gave to startEvent. `resolve` gives the handles of this process. Throws std::exception where
/// something is missing, or is not what it should be.
template <typename Event>
Event read_event(const RecordedCall& call, const std::function<void*(const Reference&)>& resolve);

}  // namespace ddbench::nccl_recorder
