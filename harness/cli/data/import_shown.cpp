#include "harness/cli/data/import_shown.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdint>
#include <nlohmann/json.hpp>

#include "core/clock.h"
#include "core/error.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/run_options.h"
#include "harness/cli/options/shared_options.h"
#include "reports/formats/json/json.h"

namespace ddbench::cli {
namespace {

/// On standard error, if the import takes longer: a line that is redrawn on a terminal, otherwise one line
/// every ten seconds.
class ImportProgressLine {
 public:
  void show(std::size_t done, std::size_t all) {
    const std::int64_t interval_ns = terminal_ ? 100'000'000 : 10'000'000'000;
    if (done % 256 != 0 || now_ns() - last_ns_ < interval_ns) return;
    last_ns_ = now_ns();
    print_error(
        fmt::format("{}{} of {} runs{}", terminal_ ? "\r\033[K" : "", done, all, terminal_ ? "" : "\n"));
    shown_ = true;
  }
  ~ImportProgressLine() {
    if (terminal_ && shown_) print_error("\r\033[K");
  }

 private:
  bool terminal_ = ::isatty(STDERR_FILENO) != 0;
  bool shown_ = false;
  std::int64_t last_ns_ = now_ns();
};

}  // namespace

std::string content_of(const ShownImport& options) {
  return imports::read_file(options.file == "-" ? "/dev/stdin" : options.file);
}

int print_import(const ShownImport& options, const imports::ImportResult& result) {
  if (options.json) {
    const nlohmann::ordered_json json = {{"schema_version", reports::kJsonSchemaVersion},
                                         {"sweep_id", result.sweep_id},
                                         {"added", result.added},
                                         {"already_there", result.already_there}};
    print_json(json);
  } else if (result.already_there) {
    print(fmt::format("{} was imported before as sweep {}: nothing was changed\n", printable(options.file),
                      result.sweep_id));
  } else {
    print(fmt::format("imported {} run{} as sweep {}\n", result.added.size(),
                      result.added.size() == 1 ? "" : "s", result.sweep_id));
  }
  return 0;
}

int store_runs(const ShownImport& options, const imports::RunSource& runs, const std::string& content) {
  ImportProgressLine line;
  return print_import(options,
              imports::import_runs(store_path(options.db), runs, content, options.file,
                                   [&](std::size_t done, std::size_t all) { line.show(done, all); }));
}

int import_each(ShownImport options, const std::vector<std::string>& files, const ImportFile& import) {
  ImportProgressLine line;
  if (files.size() == 1) {
    options.file = files.front();
    return print_import(options, import(options.file, [&](std::size_t done, std::size_t all) { line.show(done, all); }));
  }
  nlohmann::ordered_json json = {{"schema_version", reports::kJsonSchemaVersion},
                                 {"files", nlohmann::ordered_json::array()},
                                 {"refused", nlohmann::ordered_json::array()}};
  std::size_t runs = 0;
  for (const std::string& file : files) {
    try {
      const imports::ImportResult result = import(file, {});
      runs += result.added.size();
      json["files"].push_back({{"file", file},
                               {"sweep_id", result.sweep_id},
                               {"added", result.added},
                               {"already_there", result.already_there}});
    } catch (const Error& error) {
      if (error.code() != ErrorCode::kBadInput) throw;
      json["refused"].push_back({{"file", file}, {"why", error.message()}});
      if (!options.json) print_error(fmt::format("refused: {}\n", printable(error.message())));
    }
  }
  const std::size_t refused = json["refused"].size();
  if (options.json) {
    print_json(json);
  } else {
    print(fmt::format("imported {} run{} of {} of {} files\n", runs, runs == 1 ? "" : "s", files.size() - refused,
                      files.size()));
  }
  return refused == 0 ? 0 : static_cast<int>(ErrorCode::kBadInput);
}

}  // namespace ddbench::cli
