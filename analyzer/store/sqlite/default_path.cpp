#include <cstdlib>
#include <string_view>

#include "analyzer/store/sqlite/open_mode.h"
#include "core/files/data_directory.h"

namespace ddbench::store {

std::filesystem::path default_path() {
  const char* const file =
      std::getenv("DDBENCH_DB");  // NOLINT(concurrency-mt-unsafe): nothing here sets variables
  if (file != nullptr && *file != '\0') return file;
  return data_directory() / "results.db";
}

}  // namespace ddbench::store
