#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>

#include "analyzer/import/table/table_columns.h"

namespace ddbench::imports {

/// GPUs that share one copy of the model in a row; 1 if not stated.
std::int64_t model_parallel(const RowValues& row);

/// Finds the rows with a global batch that are weak scaling: among rows that differ only in size, the batch
/// per GPU is constant and the global batch is not. Tags first count as part of the curve's identity, then
/// are ignored.
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
