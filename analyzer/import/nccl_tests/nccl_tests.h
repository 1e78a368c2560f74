#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/import/imported_run.h"

namespace ddbench::imports {

struct NcclTestsOptions {
  std::string function;  ///< "all_reduce", ... of a file with one test, else where it does not say; empty: as the file says
  int ranks = 0;         ///< 0: as the file says
  std::string network;   ///< kept as the runs' network; empty: not known
  std::string sku;
};

/// Reads what the programs of NVIDIA/nccl-tests print, or write with -J: text of old and new versions, with
/// or without mpirun's line prefixes and NCCL's own log between the lines, or JSON (told by the first
/// character). Gives a run each for the out-of-place and the in-place columns of each test in the text, with a
/// collective for each size; a note says how many tests gave none. Sizes of 0 bytes are left out. A test that found wrong results makes its run invalid.
///
/// Throws Error{kBadInput} that names the line (of JSON: the entry) on malformed rows, on a file without
/// results or ranks, where the collective is not said and not given, and where busbw is not the algbw times
/// the factor of that collective.
std::vector<ImportedRun> read_nccl_tests(std::string_view text, const std::string& origin,
                                         const NcclTestsOptions& options);

}  // namespace ddbench::imports
