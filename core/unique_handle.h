#pragma once

#include <memory>

namespace ddbench {

/// Calls the function `Destroy` on a C handle; never throws. `Destroy` is a free function taking `T*`.
template <auto Destroy>
struct DestroyWith {
  template <typename T>
  void operator()(T* handle) const noexcept {
    static_cast<void>(Destroy(handle));
  }
};

/// Sole owner of a C handle: `using Statement = UniqueHandle<sqlite3_stmt, sqlite3_finalize>;`
template <typename T, auto Destroy>
using UniqueHandle = std::unique_ptr<T, DestroyWith<Destroy>>;

/// Sole owner of a POSIX file descriptor; -1 is empty. Closing never throws.
class UniqueFd {
 public:
  UniqueFd() noexcept = default;
  explicit UniqueFd(int fd) noexcept : fd_(fd) {}
  UniqueFd(UniqueFd&& other) noexcept : fd_(other.release()) {}
  UniqueFd& operator=(UniqueFd&& other) noexcept {
    if (this != &other) reset(other.release());
    return *this;
  }
  UniqueFd(const UniqueFd&) = delete;
  UniqueFd& operator=(const UniqueFd&) = delete;
  ~UniqueFd() { reset(); }

  int get() const noexcept { return fd_; }
  explicit operator bool() const noexcept { return fd_ >= 0; }
  int release() noexcept {
    const int fd = fd_;
    fd_ = -1;
    return fd;
  }
  void reset(int fd = -1) noexcept;

 private:
  int fd_ = -1;
};

}  // namespace ddbench
