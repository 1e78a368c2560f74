#include "reports/formats/mlflow/file_store.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdio.h>
#include <stdlib.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <system_error>

#include "core/error.h"
#include "core/files/owned_directory.h"
#include "reports/formats/mlflow/run_values.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports::mlflow {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const fs::path& path, int error) {
  throw Error(ErrorCode::kRunFailed, fmt::format("cannot write {}: {}", path.string(), std::strerror(error)),
              error, "write " + path.string());
}

void make_folders(const fs::path& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (error) fail(path, error.value());
}

/// The value of the line "name: ..." of an experiment's meta.yaml, without quotes.
std::string experiment_name(const fs::path& folder) {
  std::ifstream file(folder / "meta.yaml");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("name:", 0) != 0) continue;
    std::string value = line.substr(5);
    value.erase(0, value.find_first_not_of(" '\""));
    value.erase(value.find_last_not_of(" '\"\r") + 1);
    return value;
  }
  return {};
}

bool is_exported(const std::string& path) {
  for (const char* folder : {"metrics/", "params/"})
    if (path.starts_with(folder)) return path.find('/', std::strlen(folder)) == std::string::npos;
  for (const char* tag : {"tags/ddbench.", "tags/tag.", "tags/mlflow.runName", "tags/mlflow.source.",
                          "tags/mlflow.note.content"})
    if (path.starts_with(tag)) return true;
  for (const char* name :
       {"meta.yaml", "tags/", "artifacts/", "artifacts/report.html", "artifacts/report.json"})
    if (path == name) return true;
  return false;
}

void check_is_export(const fs::path& target, const std::string& run) {
  std::string named;
  std::getline(std::ifstream(target / "tags" / "ddbench.run_id"), named);
  const auto directory = OwnedDirectory::open(target);
  const std::string foreign = directory ? directory->first_foreign(is_exported) : "";
  if (named == run && foreign.empty()) return;
  throw Error(
      ErrorCode::kBadInput,
      fmt::format("cannot replace {}: {}; move it away, or export to another directory", target.string(),
                  named == run ? fmt::format("ddbench did not write {} in it", foreign)
                               : "ddbench did not export it"),
      0, target.string());
}

}  // namespace

NewDirectory::NewDirectory(const fs::path& parent) {
  make_folders(parent);
  std::string pattern = (parent / ".ddbench-XXXXXX").string();
  if (::mkdtemp(pattern.data()) == nullptr) fail(parent, errno);
  path_ = pattern;
}

NewDirectory::~NewDirectory() {
  if (path_.empty()) return;
  try {
    // Made here, or an older export of the same run, which place() has looked at.
    if (const auto directory = OwnedDirectory::open(path_)) directory->remove();
  } catch (const Error&) {
    // It stays, under a hidden name.
  }
}

void NewDirectory::write(const fs::path& name, std::string_view content) {
  make_folders((path_ / name).parent_path());
  const fs::path path = path_ / name;
  std::ofstream file(path, std::ios::binary);
  file.write(content.data(), static_cast<std::streamsize>(content.size()));
  file.close();
  if (!file) fail(path, errno);
}

void NewDirectory::place(const fs::path& target, const std::string& run) {
  std::error_code error;
  fs::permissions(path_,
                  fs::perms::owner_all | fs::perms::group_read | fs::perms::group_exec |
                      fs::perms::others_read | fs::perms::others_exec,
                  error);
  if (::rename(path_.c_str(), target.c_str()) == 0) {
    path_.clear();
    return;
  }
  if (errno != ENOTEMPTY && errno != EEXIST) fail(target, errno);
  check_is_export(target, run);
  // Both change places at once; the older one is then deleted under the temporary name.
  if (::renameat2(AT_FDCWD, path_.c_str(), AT_FDCWD, target.c_str(), RENAME_EXCHANGE) != 0)
    fail(target, errno);
}

std::string experiment_id(const fs::path& root, const std::string& name, std::int64_t now_ms) {
  std::error_code error;
  if (fs::exists(root, error) && !fs::is_directory(root, error)) {
    throw Error(
        ErrorCode::kBadInput,
        fmt::format("{} is no directory: name the directory of an MLflow file store, or one to be made",
                    root.string()),
        ENOTDIR);
  }
  make_folders(root);
  for (const fs::directory_entry& entry : fs::directory_iterator(root, error)) {
    if (entry.is_directory(error) && experiment_name(entry.path()) == name)
      return entry.path().filename().string();
  }
  if (error) fail(root, error.value());
  const std::string id =
      fmt::format("{:018}", std::stoull(hash_of(name), nullptr, 16) % 1'000'000'000'000'000'000ULL);
  NewDirectory folder(root);
  folder.write(
      "meta.yaml",
      fmt::format("artifact_location: {}\ncreation_time: {}\nexperiment_id: '{}'\nlast_update_time: {}\n"
                  "lifecycle_stage: active\nname: {}\n",
                  json_string(file_uri(root / id)), now_ms, id, now_ms, json_string(name)));
  folder.place(root / id, "");
  return id;
}

std::string file_uri(const fs::path& path) {
  std::string uri = "file://";
  for (const char c : fs::absolute(path).lexically_normal().string()) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
                       std::string_view("/-_.~").find(c) != std::string_view::npos;
    uri += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return uri;
}

}  // namespace ddbench::reports::mlflow
