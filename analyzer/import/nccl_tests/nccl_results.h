#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddbench::imports {

/// One size of one placement, as printed.
struct NcclMeasurement {
  std::string where;  ///< "line 12", "result 3": for errors
  double bytes = 0;
  double time_us = 0;
  double algbw = 0;
  double busbw = 0;
  std::optional<double> wrong;  ///< elements; empty: not checked
};

struct NcclResults {
  std::string function;             ///< "all_reduce"; empty: not stated
  int ranks = 0;                    ///< 0: not stated
  std::vector<std::string> hosts;   ///< of each rank that is listed
  std::vector<std::string> models;  ///< of each GPU that is listed
  std::string type;
  std::string redop;
  std::int64_t iterations = 0;  ///< 0: not stated
  std::vector<NcclMeasurement> out_of_place;
  std::vector<NcclMeasurement> in_place;
};

/// One for each test that the text has, in order, also for those that gave nothing: at least one. A test begins with "#
/// Collective test starting" or a second "# nThread"; the program that is named before it is its own.
std::vector<NcclResults> read_nccl_text(std::string_view text, const std::string& origin);
NcclResults read_nccl_json(std::string_view text, const std::string& origin);

/// "all_reduce" from a path or name of a test program in the text ("./build/all_reduce_perf_mpi"); empty:
/// none.
std::string function_of_program(std::string_view text);

}  // namespace ddbench::imports
