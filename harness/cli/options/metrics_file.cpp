#include "harness/cli/options/metrics_file.h"

#include <fmt/format.h>

#include "core/error.h"
#include "reports/text/output_file.h"

namespace ddbench::cli {

MetricsFile::MetricsFile(std::filesystem::path file) : file_(std::move(file)) {
  try {
    reports::OutputFile probe(file_);
  } catch (const Error& error) {
    throw Error(ErrorCode::kBadInput, fmt::format("--metrics-file: {}", error.message()), error.native_code(), file_.string());
  }
}

void MetricsFile::replace(const std::string& text) const noexcept {
  try {
    reports::OutputFile output(file_);
    output.write(text);
    output.commit(reports::Durability::kReplacedSoon);
  } catch (const std::exception&) {  // a disk that is full, no memory
  }
}

}  // namespace ddbench::cli
