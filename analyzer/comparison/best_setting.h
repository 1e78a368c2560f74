#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/run/case_figures.h"
#include "analyzer/statistics/ratio_interval.h"

namespace ddbench::analyzer {

/// The fastest of several settings for the same training on the same GPUs: the cases differ only in strategy
/// and its options, bucket size, data workers, prefetch, accumulation, precision, backend or CUDA graph.
struct BestSetting {
  RunCase run_case;
  std::string setting;       ///< fields that were varied, with their values: "bucket_bytes=1048576 data_workers=2"
  int settings = 0;          ///< how many were compared
  Quantity samples_per_s;    ///< global batch / step time, interval and all
  std::string next;          ///< the setting that comes next
  /// Throughput over that of the next. The level of the interval is 1 - 5% / (settings - 1): the best was chosen among
  /// all (Bonferroni).
  RunRatio over_next;
  /// Settings whose ratio to the best may be 1 by such an interval, or has none.
  std::vector<std::string> as_good;
};

/// One entry for each kind and size of training of which there are two settings or more, in the order of `cases`.
/// Those without samples/s are left out.
std::vector<BestSetting> best_settings(std::span<const CaseFigures> cases);

}  // namespace ddbench::analyzer
