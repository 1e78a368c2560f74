#include "harness/cli/store/collect_sources.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "core/error.h"

namespace ddbench::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kStoreName = "results.db";

[[noreturn]] void refuse(const std::string& text, const std::string& why) {
  throw Error(ErrorCode::kBadInput, why, 0, text);
}

bool is_path(std::string_view text) {
  return text == "." || text == ".." || text.substr(0, text.find(':')).find('/') != std::string_view::npos;
}

/// ssh takes a word that begins with "-" for an option, and its configuration may run commands with the name
/// in them.
bool is_host(std::string_view host) {
  const auto is_allowed = [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '.' ||
           c == '_' || c == '-' || c == '@';
  };
  const std::size_t at = host.find('@');
  const std::string_view name = at == std::string_view::npos ? host : host.substr(at + 1);
  return !name.empty() && name.front() != '-' && host.front() != '-' && host.front() != '@' &&
         name.find('@') == std::string_view::npos && std::all_of(host.begin(), host.end(), is_allowed);
}

CollectSource host_source(const std::string& text) {
  const std::size_t colon = text.find(':');
  HostSource source{text.substr(0, colon), colon == std::string::npos ? "" : text.substr(colon + 1)};
  if (!is_host(source.host))
    refuse(text,
           "this is neither [USER@]HOST[:STORE] nor a path, which has a \"/\" (./results for a folder here)");
  return {text, std::move(source)};
}

std::vector<fs::path> stores_below(const fs::path& folder) {
  std::vector<fs::path> stores;
  std::error_code error;
  fs::recursive_directory_iterator at(folder, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    std::error_code ignored;
    if (at->path().filename() == kStoreName && at->symlink_status(ignored).type() == fs::file_type::regular)
      stores.push_back(at->path());
  }
  if (error) refuse(folder.string(), fmt::format("this folder cannot be read: {}", error.message()));
  std::sort(stores.begin(), stores.end());
  return stores;
}

}  // namespace

std::vector<CollectSource> collect_sources(const std::string& text, const fs::path& own) {
  if (text.empty()) refuse(text, "a source needs a name");
  if (!is_path(text)) return {host_source(text)};
  std::error_code error;
  const fs::path path = fs::absolute(text);
  const fs::file_type type = fs::status(path, error).type();
  if (type != fs::file_type::directory && type != fs::file_type::regular)
    refuse(text, error == std::errc::permission_denied ? "its directory is closed to this user" : "there is no such folder or store");
  std::vector<fs::path> stores = type == fs::file_type::directory ? stores_below(path) : std::vector{path};
  if (stores.empty()) refuse(text, fmt::format("no {} is below this folder", kStoreName));
  std::erase_if(stores, [&](const fs::path& store) {
    std::error_code unknown;
    return fs::equivalent(store, own, unknown);
  });
  std::vector<CollectSource> sources;
  for (const fs::path& store : stores)
    sources.push_back({store.lexically_normal().string(), FileSource{store}});
  return sources;
}

}  // namespace ddbench::cli
