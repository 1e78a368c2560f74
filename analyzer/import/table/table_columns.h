#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/import/table/table.h"

namespace ddbench::imports {

inline constexpr std::int64_t kMostRanks =
    65536;  ///< as validate(RunCase) has it; no count of a row is larger

/// The values read from one row. Numbers are 0 if not stated.
struct RowValues {
  std::map<std::string, std::string> case_fields;  ///< "workload", "tags.team", ...
  std::map<std::string, std::string> facts;
  std::string network;
  std::int64_t gpus = 0;  ///< all of them
  std::int64_t nodes = 0;
  std::int64_t gpus_per_node = 0;
  std::int64_t global_batch = 0;
  std::int64_t tensor_parallel = 0;
  std::int64_t pipeline_parallel = 0;
  std::int64_t context_parallel = 0;
  double samples_per_s = 0;
  double samples_per_s_per_gpu = 0;
  double step_ns = 0;
  bool counts_tokens = false;  ///< a rate is of tokens, which no batch is stated in
};

/// Puts a cell into the row. Returns the error; empty if there is none.
using SetCell = std::function<std::string(RowValues&, const std::string& cell)>;

struct Column {
  std::string name;  ///< as the header has it
  std::string key;   ///< as it is known here: in lower case, renamed, without unit
  SetCell set;
};

/// One column for each cell of the header. Throws Error{kBadInput} on an empty or repeated name, a metric
/// without unit or with one that it cannot have, no metric at all, and options that name no column.
std::vector<Column> table_columns(const std::vector<std::string>& header, const TableOptions& options,
                                  const std::string& origin, int line);

}  // namespace ddbench::imports
