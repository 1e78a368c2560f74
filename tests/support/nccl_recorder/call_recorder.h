#pragma once

#include <sys/types.h>

#include <concepts>
#include <cstdint>
#include <mutex>
#include <string>
#include <unordered_map>

#include "recorded_call.h"

namespace ddbench::nccl_recorder {

/// Which call returned a handle or a context last: a plug-in may return one again.
using Returned = std::unordered_map<const void*, std::uint64_t>;

/// A call as it will be written (recorded_call.h). Also the visitor of an event's members.
class CallLine {
 public:
  CallLine(const Returned& handles, const Returned& contexts) : handles_(handles), contexts_(contexts) {}

  void operator()(const char* name, const char* text) {
    fields_[name] = text != nullptr ? Json(text) : Json();
  }
  void operator()(const char* name, const void* address);
  template <std::integral Number>
  void operator()(const char* name, Number number) {
    fields_[name] = number;
  }
  void handle(const char* name, const void* handle) { known(name, handle, handles_); }
  void context(const void* context) { known("context", context, contexts_); }
  void process(const char* name, pid_t pid);
  void type(std::uint64_t type);
  /// Of a process's proxy that works for another one, whose handles may be equal to handles of this one.
  void foreign_parent(const void* parent) { (*this)("parentObj", parent); }

  Json& fields() noexcept { return fields_; }

 private:
  void known(const char* name, const void* address, const Returned& returned);

  const Returned& handles_;
  const Returned& contexts_;
  Json fields_;
};

/// Writes the calls of this process into the file that kRecordingVariable names, which is created with the
/// first call: a file that is there already is another process's. One write a line: what is killed leaves
/// whole ones. What cannot be written ends the recording and nothing else. One a process, never destroyed.
/// Thread-safe; nothing throws.
class CallRecorder {
 public:
  static CallRecorder& instance() noexcept;

  enum class Returns { kNothing, kHandle, kContext };

  /// Makes the call, `forward()`, and records it with what `describe(CallLine&)` adds of its arguments; what
  /// it returned lies in `*returned` then. Calls are made one at a time: replays make them in this order.
  template <typename Forward, typename Describe>
  nccl::Result call(const char* name, int version, Returns returns, void* const* returned,
                    const Forward& forward, const Describe& describe) noexcept {
    const std::lock_guard lock(mutex_);
    const std::int64_t at_ns = time_ns();
    const nccl::Result result = forward();
    if (!records()) return result;
    try {
      CallLine line(handles_, contexts_);
      head(line, name, version, at_ns, result);
      describe(line);
      add(line, returns, returned);
    } catch (...) {  // of memory
      end();
    }
    return result;
  }

 private:
  CallRecorder() = default;
  static std::int64_t time_ns() noexcept;
  bool records() noexcept;
  void open() noexcept;
  void head(CallLine& line, const char* name, int version, std::int64_t at_ns, nccl::Result result);
  void add(CallLine& line, Returns returns, void* const* returned);
  void write(const std::string& line) noexcept;
  void end() noexcept;

  std::mutex mutex_;
  bool is_open_ = false;  // or was not to be opened
  int file_ = -1;
  pid_t owner_ = 0;
  std::int64_t begin_ns_ = 0;
  std::uint64_t calls_ = 0;
  int threads_ = 0;
  Returned handles_;
  Returned contexts_;
};

}  // namespace ddbench::nccl_recorder
