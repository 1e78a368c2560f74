#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "database.h"
#include "ddbench/store/run_store.h"

namespace ddbench::store {

class RunStore::Impl {
 public:
  explicit Impl(Database opened) : database(std::move(opened)) {}

  /// Throws Error{kBadInput} when there is no such run.
  std::int64_t run_key(const RunId& id) const;

  Database database;
};

}  // namespace ddbench::store
