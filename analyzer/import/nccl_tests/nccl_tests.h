#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/import/imported_run.h"

namespace ddbench::imports {

struct NcclTestsOptions {
  std::string function;  ///< "all_reduce", ... of one test, or if not stated; empty: as in the file
  int ranks = 0;         ///< 0: as in the file
  std::string network;   ///< kept as the runs' network; empty: not known
  std::string sku;
};

/// Reads what the programs of NVIDIA/nccl-tests print, or write with -J: text of old and new versions, with
/// or without mpirun's line prefixes and NCCL's own log between the lines, or JSON (recognised by the first
/// character). Makes one run for the out-of-place and one for the in-place columns of each test in the text,
/// with a collective for each size; a note states how many tests had no results. Sizes of 0 bytes are left
/// out. A test that found wrong results makes its run invalid.
///
/// Throws Error{kBadInput} naming the line (for JSON: the entry) on malformed rows, on a file without results
/// or ranks, if the collective is stated neither in the file nor by the caller, and if busbw is not algbw
/// times the factor of that collective.
std::vector<ImportedRun> read_nccl_tests(std::string_view text, const std::string& origin,
                                         const NcclTestsOptions& options);

}  // namespace ddbench::imports
