#include "analyzer/import/nsys/export_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "analyzer/import/kineto/file_bytes.h"
#include "core/error.h"

namespace ddbench::imports {
namespace {

constexpr std::array<std::string_view, 13> kTables = {
    "StringIds",        "CUPTI_ACTIVITY_KIND_KERNEL", "CUPTI_ACTIVITY_KIND_MEMCPY",  "CUPTI_ACTIVITY_KIND_MEMSET",
    "ANALYSIS_DETAILS", "CUPTI_ACTIVITY_KIND_RUNTIME", "CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "NVTX_EVENTS",
    "NVTX_PAYLOAD_SCHEMA_ENTRIES", "TARGET_INFO_GPU",  "TARGET_INFO_SYSTEM_ENV",      "TARGET_INFO_SESSION_START_TIME",
    "META_DATA_EXPORT"};

constexpr std::size_t kMagicBytes = 16;

}  // namespace

NsysExport::NsysExport(std::filesystem::path file)
    : file_(std::move(file)), database_((check_header(), file_), store::Access::kImmutable) {
  guarded([&] { read_schema(); });
  if (!has("StringIds")) refuse("it has no table StringIds: it is no SQLite export of Nsight Systems (nsys export --type sqlite)");
  each("SELECT id, value FROM StringIds", [&](const store::Statement& row) {
    std::int64_t id = 0;
    std::string value;
    row.read(id, value);
    strings_.emplace(id, std::move(value));
  });
}

void NsysExport::refuse(const std::string& why) const {
  throw Error(ErrorCode::kBadInput, fmt::format("{}: {}", file_.string(), why), 0, file_.string());
}

void NsysExport::check_header() {
  FileBytes bytes(file_);
  std::string block(std::size_t{1} << 16, '\0');
  std::size_t size = bytes.read(block.data(), block.size());
  const std::string_view header = std::string_view(block).substr(0, std::min(size, kMagicBytes));
  if (!header.empty() && header.find_first_not_of('\0') == std::string_view::npos)
    refuse("its header is all zeros: the export was interrupted; run nsys export again");
  if (!header.starts_with("SQLite format 3"))
    refuse("it is no SQLite file: write one with `nsys export --type sqlite REPORT.nsys-rep`");
  while (size > 0) size = bytes.read(block.data(), block.size());
  hash_ = bytes.hash();
}

void NsysExport::read_schema() {
  store::Statement tables = database_.prepare("SELECT name, type, upper(sql) FROM sqlite_master WHERE name = ?");
  for (const std::string_view table : kTables) {
    tables.reset();
    tables.bind(table);
    if (!tables.step()) continue;
    std::string name, type, sql;
    tables.read(name, type, sql);
    if (type != "table" || !sql.starts_with("CREATE TABLE")) refuse(fmt::format("{} is a {} and no plain table: nsys did not write it", table, type));
    store::Statement columns = database_.prepare("SELECT name, hidden FROM pragma_table_xinfo(?)");
    columns.bind(table);
    std::vector<std::string>& names = columns_[std::string(table)];
    while (columns.step()) {
      bool is_hidden = false;
      columns.read(names.emplace_back(), is_hidden);
      if (is_hidden) refuse(fmt::format("{} has a generated column, {}: nsys did not write it", table, names.back()));
    }
  }
}

void NsysExport::guarded_call(void (*call)(const void*), const void* read) const {
  try {
    call(read);
  } catch (const Error& error) {
    if (error.code() == ErrorCode::kBadInput) throw;
    throw Error(ErrorCode::kBadInput, fmt::format("{}: it cannot be read as a database: {}", file_.string(), error.message()),
                0, file_.string());
  }
}

bool NsysExport::has(std::string_view table, std::string_view column) const {
  const auto found = columns_.find(std::string(table));
  return found != columns_.end() && std::find(found->second.begin(), found->second.end(), column) != found->second.end();
}

std::string NsysExport::or_null(std::string_view table, std::string_view column) const {
  return has(table, column) ? fmt::format("\"{}\"", column) : "NULL";
}

std::int64_t NsysExport::integer(const std::string& sql) const {
  std::int64_t value = 0;
  guarded([&] { value = database_.integer(sql); });
  return value;
}

std::string NsysExport::text(const std::string& sql) const {
  std::string value;
  guarded([&] {
    store::Statement statement = database_.prepare(sql);
    if (statement.step()) statement.read(value);
  });
  return value;
}

std::string_view NsysExport::string(std::int64_t id) const {
  const auto found = strings_.find(id);
  return found == strings_.end() ? std::string_view() : std::string_view(found->second);
}

}  // namespace ddbench::imports
