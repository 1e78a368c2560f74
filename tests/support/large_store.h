#pragma once

#include <filesystem>

namespace ddbench::test {

struct LargeStore {
  int runs = 1000;
  int spans_per_run = 10'000;
};

/// A store as a year of nightly sweeps leaves it: runs of one workload on 1, 2, 4 and 8 ranks, over two
/// links, repeated; each with spans, rows of steps, collectives and kernels. Same options, same content (but
/// for the run's start).
void make_large_store(const std::filesystem::path& file, const LargeStore& options = {});

/// A table for `ddbench import table`, a row a run.
void make_large_table(const std::filesystem::path& file, int rows);

}  // namespace ddbench::test
