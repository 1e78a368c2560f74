#pragma once

#include <cstdint>

#include "core/run_case/records.h"

namespace ddbench::store {

/// Ids for runs that are stored together: the first is random, as new_run_id() gives it, and the others count
/// on from it. 200,000 random ones of one second would not all differ, and would be stored in a slower order.
class RunIdSequence {
 public:
  RunIdSequence();
  RunId next();

 private:
  std::string time_;  ///< "20261121T001905-"
  std::uint32_t number_;
};

}  // namespace ddbench::store
