#include "call_recorder.h"

#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <cstdlib>

#include "core/clock.h"

namespace ddbench::nccl_recorder {
namespace {

thread_local int thread_number = -1;

std::string text_of(const void* address) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%llx",
                static_cast<unsigned long long>(reinterpret_cast<std::uintptr_t>(address)));
  return text.data();
}

}  // namespace

void CallLine::operator()(const char* name, const void* address) {
  fields_[name] = address != nullptr ? Json(text_of(address)) : Json();
}

void CallLine::known(const char* name, const void* address, const Returned& returned) {
  const auto found = returned.find(address);
  if (address == nullptr || found == returned.end()) return (*this)(name, address);
  fields_[name] = found->second;
}

void CallLine::process(const char* name, pid_t pid) {
  fields_[name] = pid == ::getpid() ? "own" : "foreign";
}

void CallLine::type(std::uint64_t type) {
  const auto bit = static_cast<std::size_t>(std::countr_zero(type));
  fields_["type"] =
      std::has_single_bit(type) && bit < kEventNames.size() ? Json(kEventNames[bit]) : Json(type);
}

CallRecorder& CallRecorder::instance() noexcept {
  static CallRecorder* const recorder = new CallRecorder;
  return *recorder;
}

std::int64_t CallRecorder::time_ns() noexcept {
  return now_ns();
}

bool CallRecorder::records() noexcept {
  if (!is_open_) open();
  return file_ >= 0 && owner_ == ::getpid();  // a fork's calls are not this process's
}

void CallRecorder::open() noexcept {
  is_open_ = true;
  const char* const name = std::getenv(kRecordingVariable);
  if (name == nullptr || *name == '\0') return;
  owner_ = ::getpid();
  file_ = ::open(name, O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0644);
  if (file_ < 0 && errno != EEXIST) std::perror(name);
  if (file_ < 0) return;
  try {
    write(std::string(kRecordingHead) + '\n');
  } catch (...) {
    end();
  }
}

void CallRecorder::head(CallLine& line, const char* name, int version, std::int64_t at_ns,
                        nccl::Result result) {
  if (calls_ == 0) begin_ns_ = at_ns;
  if (thread_number < 0) thread_number = threads_++;
  line("number", calls_);
  line("time_ns", at_ns - begin_ns_);
  line("thread", thread_number);
  line("version", version);
  line("call", name);
  line("result", result);
}

void CallRecorder::add(CallLine& line, Returns returns, void* const* returned) {
  const std::uint64_t number = calls_++;
  if (returns != Returns::kNothing) {
    const void* const value = returned != nullptr ? *returned : nullptr;
    line.fields()["returned"] = value != nullptr ? Json(number) : Json();
    if (value != nullptr) (returns == Returns::kHandle ? handles_ : contexts_)[value] = number;
  }
  // A communicator's name may be any bytes.
  write(line.fields().dump(-1, ' ', false, Json::error_handler_t::replace) + '\n');
}

void CallRecorder::write(const std::string& line) noexcept {
  for (std::size_t written = 0; written < line.size();) {
    const ssize_t some = ::write(file_, line.data() + written, line.size() - written);
    if (some < 0 && errno == EINTR) continue;
    if (some <= 0) return end();
    written += static_cast<std::size_t>(some);
  }
}

void CallRecorder::end() noexcept {
  if (file_ >= 0) ::close(file_);
  file_ = -1;
}

}  // namespace ddbench::nccl_recorder
