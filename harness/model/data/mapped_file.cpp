#include "harness/model/data/mapped_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "core/error.h"
#include "core/unique_handle.h"

namespace ddbench::workload {

MappedFile::MappedFile(const std::filesystem::path& file) {
  const std::string what = "open " + file.string();
  const UniqueFd fd(
      static_cast<int>(check_posix(open(file.c_str(), O_RDONLY | O_CLOEXEC), what, ErrorCode::kBadInput)));
  struct stat status {};
  check_posix(fstat(fd.get(), &status), what, ErrorCode::kBadInput);
  if (!S_ISREG(status.st_mode)) {
    throw Error(ErrorCode::kBadInput, fmt::format("{} is no regular file", file.string()), 0, what);
  }
  size_ = static_cast<std::size_t>(status.st_size);
  if (size_ == 0) return;  // the kernel refuses to map nothing
  void* const mapped = mmap(nullptr, size_, PROT_READ, MAP_SHARED, fd.get(), 0);
  if (mapped == MAP_FAILED) throw_errno(errno, "map " + file.string(), ErrorCode::kBadInput);
  bytes_ = static_cast<const std::uint8_t*>(mapped);
}

MappedFile::~MappedFile() {
  if (size_ > 0) munmap(const_cast<std::uint8_t*>(bytes_), size_);
}

}  // namespace ddbench::workload
