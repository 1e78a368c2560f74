#pragma once

#include <string>
#include <vector>

#include "harness/cli/store/fetch_by_ssh.h"

namespace ddbench::cli {

struct CollectOptions {
  std::vector<std::string> sources;  ///< as collect_sources takes them
  std::string db;
  SshOptions ssh;
  int keep_days = 0;  ///< of the runs that were collected from these sources; 0: all
  int keep = 0;       ///< the newest of them, of each source; 0: all
  bool json = false;
};

/// `ddbench db collect`: brings the finished runs of other stores that the store does not know, source after
/// source, then deletes those runs collected from them that neither retention rule keeps. Exit code 1 if a source
/// failed, or has runs that cannot be read; the others are collected all the same.
int collect(const CollectOptions& options);

}  // namespace ddbench::cli
