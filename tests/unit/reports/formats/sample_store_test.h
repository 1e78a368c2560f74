#pragma once

#include <gtest/gtest.h>

#include <memory>

#include "analyzer/store/rows/run_store.h"
#include "sample_store.h"
#include "scratch_directory.h"

namespace ddbench::test {

/// A store with a small sweep, filled once for all tests of the suite.
class SampleStore : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    directory_ = std::make_unique<ScratchDirectory>();
    store_ = std::make_unique<store::RunStore>(
        store::RunStore::open(directory_->path() / "results.db", store::OpenMode::kReadWrite));
    SampleSweep sweep;
    sweep.nodes = {1, 2};
    sweep.gpus_per_node = {1, 2};
    sweep.steps = 20;
    ids_ = add_sample_sweep(*store_, sweep);
    sweep_id_ = sweep.id;
  }
  static void TearDownTestSuite() {
    store_.reset();
    directory_.reset();
  }

  static const std::filesystem::path& directory() { return directory_->path(); }
  static store::RunStore& store() { return *store_; }
  /// 1 x 1, 1 x 2, 2 x 1 (invalid), 2 x 2 (failed).
  static const std::vector<store::RunId>& ids() { return ids_; }
  static const std::string& sweep_id() { return sweep_id_; }

 private:
  static inline std::unique_ptr<ScratchDirectory> directory_;
  static inline std::unique_ptr<store::RunStore> store_;
  static inline std::vector<store::RunId> ids_;
  static inline std::string sweep_id_;
};

}  // namespace ddbench::test
