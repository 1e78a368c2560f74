#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "analyzer/import/table/table_columns.h"

namespace ddbench::imports {

/// GPUs that share one copy of the model in a row; 1 where nothing is said.
std::int64_t model_parallel(const RowValues& row);

/// Which rows with a global batch are weak scaling: among rows that differ in nothing but their size the batch a GPU
/// is the same, and the global batch is not. Tags are looked at first (one curve each), then left out.
class ScalingModes {
 public:
  void see(const RowValues& row);
  bool is_weak(const RowValues& row) const;

 private:
  struct Curve {
    std::set<double> shares;  ///< batch a GPU; no more than two are kept, which is enough to see a difference
    std::set<std::int64_t> batches;
    bool is_weak() const { return shares.size() == 1 && batches.size() > 1; }
    bool is_strong() const { return batches.size() == 1 && shares.size() > 1; }
  };
  std::map<std::string, Curve> curves_;
};

}  // namespace ddbench::imports
