#include "harness/cli/options/metrics_file.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <system_error>

#include "core/error.h"

namespace ddbench::cli {
namespace {

namespace fs = std::filesystem;

bool write(const fs::path& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary | std::ios::trunc);
  out << text;
  out.close();
  return !out.fail();
}

fs::path beside(const fs::path& file) { return file.string() + fmt::format(".{}.tmp", ::getpid()); }

}  // namespace

MetricsFile::MetricsFile(fs::path file) : file_(std::move(file)) {
  std::error_code error;
  const char* trouble = nullptr;
  if (fs::is_directory(file_, error)) {
    trouble = "it is a folder";
  } else if (!write(beside(file_), "")) {
    trouble = "nothing can be written beside it";
  }
  fs::remove(beside(file_), error);
  if (trouble != nullptr)
    throw Error(ErrorCode::kBadInput, fmt::format("--metrics-file {}: {}: name a file in a folder that you can write", file_.string(), trouble));
}

void MetricsFile::replace(const std::string& text) const noexcept {
  try {
    std::error_code error;
    if (write(beside(file_), text)) fs::rename(beside(file_), file_, error);
    fs::remove(beside(file_), error);
  } catch (const std::exception&) {  // no memory for a name
  }
}

}  // namespace ddbench::cli
