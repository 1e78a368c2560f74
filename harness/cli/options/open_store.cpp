#include "harness/cli/options/open_store.h"

#include <fmt/format.h>

#include "harness/cli/options/output.h"

namespace ddbench::cli {

store::RunStore open_store(const std::string& db_option, store::OpenMode mode) {
  store::RunStore store = store::RunStore::open(store_path(db_option), mode);
  report_unreadable_runs(store);
  return store;
}

store::RunStore open_store(const std::string& db_option) {
  return open_store(db_option, store::OpenMode::kReadOnly);
}

void report_unreadable_runs(store::RunStore& store) {
  store.on_unreadable([file = store.file()](const store::UnreadableRun& run) {
    print_error(fmt::format("note: run {} in {} is left out, because it cannot be read: {}\n",
                            printable(run.id), printable(file.string()), printable(run.reason)));
  });
}

}  // namespace ddbench::cli
