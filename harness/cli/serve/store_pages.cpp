#include "harness/cli/serve/store_pages.h"

#include <fmt/format.h>

#include <new>
#include <utility>

#include "analyzer/comparison/compare.h"
#include "analyzer/run/run_summary.h"
#include "analyzer/store/rows/run_store.h"
#include "core/error.h"
#include "core/text/number.h"
#include "harness/cli/analysis/report_subject.h"
#include "harness/cli/data/listed_runs.h"
#include "reports/formats/html/html.h"
#include "reports/formats/prometheus/prometheus.h"
#include "reports/tables/report.h"

namespace ddbench::cli {
namespace {

constexpr const char* kPrometheusType = "text/plain; version=0.0.4; charset=utf-8";

/// The relative address of the list, seen from a page whose path has `depth` segments.
reports::PageLinks links_from(std::size_t depth) {
  std::string root = "./";
  for (std::size_t i = 1; i < depth; ++i) root = i == 1 ? "../" : root + "../";
  return {root};
}

struct OpenedStore {
  store::RunStore store;
  std::vector<std::string> unreadable;  ///< grows while the store is read
};

/// That it cannot be opened is no fault of the request.
std::unique_ptr<OpenedStore> open_for_page(const std::filesystem::path& file) {
  try {
    auto opened = std::make_unique<OpenedStore>(OpenedStore{store::RunStore::open(file, store::OpenMode::kReadOnly), {}});
    opened->store.on_unreadable([&list = opened->unreadable](const store::UnreadableRun& run) {
      list.push_back(fmt::format("run {} is left out, because it cannot be read: {}", run.id, run.reason));
    });
    return opened;
  } catch (const Error& error) {
    throw Error(ErrorCode::kEnvironment, error.message(), error.native_code(), error.where());
  }
}

RunFilter filter_of(const http::RequestTarget& target) {
  RunFilter filter{target.value("name"), target.value("sweep"), target.value("user"), target.value("job"), target.value("host")};
  const std::string limit = target.value("limit");
  if (limit.empty()) return filter;
  const auto number = number_from<int>(limit);
  if (!number || *number < 0)
    throw Error(ErrorCode::kBadInput, fmt::format("limit is \"{}\", but it must be a number of runs (0: all)", limit));
  filter.limit = *number;
  return filter;
}

http::Reply html(std::string page) { return {.body = std::move(page)}; }

http::Reply list_page(const std::filesystem::path& file, const http::RequestTarget& target) {
  const RunFilter filter = filter_of(target);
  const auto opened = open_for_page(file);
  reports::RunListPage list;
  list.store = file.string();
  list.filters = {{"name", "name", filter.name}, {"sweep", "sweep", filter.sweep}, {"user", "user", filter.user},
                  {"job", "job", filter.job},    {"host", "host", filter.host},    {"limit", "newest runs", std::to_string(filter.limit)}};
  const ListedRecords records = listed_records(opened->store, filter);
  list.all = records.all;
  for (const store::RunRecord& run : records.newest) try {
      list.runs.push_back(analyzer::summarize_for_list(opened->store, run));
    } catch (const Error& error) {
      opened->unreadable.push_back(fmt::format("run {} is left out: {}", run.id, error.message()));
      --list.all;
    }
  list.alarms = opened->unreadable;
  return html(reports::run_list_html(list, links_from(0)));
}

http::Reply metrics_page(const std::filesystem::path& file, const http::RequestTarget& target) {
  const RunFilter filter = filter_of(target);
  const auto opened = open_for_page(file);
  std::vector<analyzer::RunSummary> summaries;
  for (const store::RunRecord& run : listed_records(opened->store, filter, false).newest) try {
      summaries.push_back(analyzer::summarize(opened->store, run.id));
    } catch (const Error&) {
      // Damaged, or deleted meanwhile: the others are still good.
    }
  return {.type = kPrometheusType, .body = reports::runs_prometheus(summaries)};
}

http::Reply run_page(const std::filesystem::path& file, const std::string& db, const std::string& reference) {
  const auto opened = open_for_page(file);
  const reports::PageLinks links = links_from(2);
  return html(reports::run_html(reports::run_report(opened->store, opened->store.find(reference).id, db), &links));
}

http::Reply sweep_page(const std::filesystem::path& file, const std::string& db, const std::string& reference) {
  const auto opened = open_for_page(file);
  const ReportSubject subject = find_report_subject(opened->store, reference);
  if (subject.sweep_id.empty()) throw Error(ErrorCode::kBadInput, fmt::format("{} is not a sweep: it is run {}", reference, subject.run_ids.front()));
  const reports::PageLinks links = links_from(2);
  return html(reports::sweep_html(reports::sweep_report(opened->store, subject.sweep_id, db), &links));
}

http::Reply comparison_page(const std::filesystem::path& file, const http::RequestTarget& target) {
  const std::string a = target.value("a");
  const std::string b = target.value("b");
  if (a.empty() || b.empty()) throw Error(ErrorCode::kBadInput, "name two sides: /compare?a=REFERENCE&b=REFERENCE");
  const auto opened = open_for_page(file);
  const reports::PageLinks links = links_from(1);
  return html(reports::comparison_html(
      analyzer::compare_runs(opened->store, analyzer::compared_side(opened->store, a), analyzer::compared_side(opened->store, b)), &links));
}

}  // namespace

http::Reply message_page(int status, const std::string& title, const std::string& message, std::size_t depth) {
  return {.status = status, .body = reports::message_html(title, message, links_from(depth))};
}

http::Reply StorePages::route(const http::RequestTarget& target) const {
  const std::vector<std::string>& path = target.path;
  if (path.empty()) return list_page(store_, target);
  if (path.size() == 1 && path[0] == "compare") return comparison_page(store_, target);
  if (path.size() == 1 && path[0] == "metrics") return metrics_page(store_, target);
  if (path.size() == 2 && path[0] == "run") return run_page(store_, db_, path[1]);
  if (path.size() == 2 && path[0] == "sweep") return sweep_page(store_, db_, path[1]);
  return message_page(404, "No such page", "The pages are the list of runs, run/ID, sweep/ID, compare?a=ID&b=ID and metrics.", path.size());
}

http::Reply StorePages::page(const http::RequestTarget& target) const noexcept try {
  const std::size_t depth = target.path.size();
  try {
    return route(target);
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kBadInput) return message_page(500, "This page cannot be shown", error.message(), depth);
    return depth == 2 ? message_page(404, "Not found", error.message(), depth) : message_page(400, "This cannot be shown", error.message(), depth);
  } catch (const std::bad_alloc&) {
    return {.status = 503, .type = "text/plain; charset=utf-8", .body = "not enough memory\n"};
  } catch (const std::exception& error) {
    return message_page(500, "This page cannot be shown", fmt::format("internal error: {}", error.what()), depth);
  }
} catch (...) {
  return {.status = 503};  // not even memory for the reason
}

}  // namespace ddbench::cli
