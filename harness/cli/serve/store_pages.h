#pragma once

#include <filesystem>
#include <string>
#include <utility>

#include "harness/http/server/request_target.h"
#include "harness/http/server/server.h"

namespace ddbench::cli {

/// The reports of a store as pages, each by the functions of `ddbench report`:
///
///     /                list of runs; ?name, sweep, user, job, host and limit as the options of `ddbench list`
///     /run/REFERENCE   an id, a part of one, a run's name or "last", as `ddbench show`
///     /sweep/REFERENCE an id, a part of one, or "last-sweep"
///     /compare?a=&b=   references as for `ddbench compare`
///     /metrics         the listed runs as gauges of Prometheus; filters as for the list
class StorePages {
 public:
  /// `db`: what the commands on its pages name with --db; empty: nothing, as the store is the default.
  explicit StorePages(std::filesystem::path store, std::string db = {}) : store_(std::move(store)), db_(std::move(db)) {}

  /// Opens the store for this reply alone, so that it is always the present one; from any thread. Throws nothing: what cannot be shown
  /// is a page with the reason, with status 400 or 404 (the request's fault) or 500 (a damaged run or store).
  http::Reply page(const http::RequestTarget& target) const noexcept;

 private:
  http::Reply route(const http::RequestTarget& target) const;

  std::filesystem::path store_;
  std::string db_;
};

/// A page of one sentence. `depth`: segments of the path of the page that it replaces.
http::Reply message_page(int status, const std::string& title, const std::string& message, std::size_t depth);

}  // namespace ddbench::cli
