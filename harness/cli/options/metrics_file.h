#pragma once

#include <filesystem>
#include <string>

namespace ddbench::cli {

/// `--metrics-file`: a text file for Prometheus (its node exporter's textfile collector), replaced atomically
/// by renaming, so that a reader never sees an incomplete file (reports/text/output_file.h).
class MetricsFile {
 public:
  MetricsFile() = default;  ///< none
  /// Throws Error{kBadInput} where nothing can be written beside `file`, or it is a folder or another user's link.
  explicit MetricsFile(std::filesystem::path file);

  bool is_wanted() const noexcept { return !file_.empty(); }
  /// A disk that is full for a while is no reason to end a run: what cannot be written is left out, and the old text stays.
  void replace(const std::string& text) const noexcept;

 private:
  std::filesystem::path file_;
};

}  // namespace ddbench::cli
