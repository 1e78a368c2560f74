#include "analyzer/import/kineto/trace_member.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "core/error.h"

namespace ddbench::imports {
namespace {

constexpr int kMostRanks = 1 << 20;
// A parsed value takes up to a hundred times the memory of its text.
constexpr std::size_t kLargestMember = std::size_t{4} << 20;

[[noreturn]] void refuse(const JsonPiece& piece, const std::filesystem::path& file, const std::string& why) {
  throw Error(ErrorCode::kBadInput, fmt::format("{}, byte {}: {}", file.string(), piece.offset, why), 0, file.string());
}

nlohmann::json parse(std::string_view key, const JsonPiece& piece, const std::filesystem::path& file) {
  if (piece.text.size() > kLargestMember) refuse(piece, file, fmt::format("{} is longer than 4 MB: this is no trace", key));
  nlohmann::json json = nlohmann::json::parse(piece.text, nullptr, false);
  if (json.is_discarded()) refuse(piece, file, fmt::format("the value of {} is no JSON", key));
  return json;
}

std::optional<int> count_in(const nlohmann::json& json, const char* key, const JsonPiece& piece,
                            const std::filesystem::path& file) {
  const auto found = json.find(key);
  if (found == json.end() || found->is_null()) return std::nullopt;
  if (!found->is_number_integer() || *found < 0 || *found > kMostRanks)
    refuse(piece, file, fmt::format("{} in distributedInfo is {}", key, found->is_primitive() ? found->dump().substr(0, 40) : found->type_name()));
  return found->get<int>();
}

void read_groups(const nlohmann::json& config, TraceInfo& info) {
  if (!config.is_array()) return;
  for (const nlohmann::json& group : config) {
    if (!group.is_object()) continue;
    const auto name = group.find("pg_name");
    const auto size = group.find("pg_size");
    if (name == group.end() || !name->is_string() || size == group.end() || !size->is_number_integer()) continue;
    if (*size > 0 && *size <= kMostRanks) info.groups[name->get<std::string>()] = size->get<int>();
  }
}

void read_distributed(const nlohmann::json& json, const JsonPiece& piece, const std::filesystem::path& file,
                      TraceInfo& info) {
  if (!json.is_object()) return;
  info.rank = count_in(json, "rank", piece, file);
  info.world_size = count_in(json, "world_size", piece, file);
  if (info.world_size == 0 || (info.rank && info.world_size && *info.rank >= *info.world_size)) {
    refuse(piece, file, fmt::format("distributedInfo has rank {} of {} ranks", info.rank.value_or(0), *info.world_size));
  }
  if (const auto backend = json.find("backend"); backend != json.end() && backend->is_string())
    info.backend = backend->get<std::string>();
  if (const auto version = json.find("nccl_version"); version != json.end() && version->is_string())
    info.nccl_version = version->get<std::string>();
  if (const auto config = json.find("pg_config"); config != json.end()) read_groups(*config, info);
}

}  // namespace

void read_trace_member(std::string_view key, const JsonPiece& piece, const std::filesystem::path& file,
                       TraceInfo& info) {
  if (key == "distributedInfo") {
    read_distributed(parse(key, piece, file), piece, file, info);
  } else if (key == "baseTimeNanoseconds") {
    const nlohmann::json json = parse(key, piece, file);
    constexpr std::int64_t kMost_ns = std::int64_t{1} << 61;
    if (!json.is_number_integer() || json < 0 || json > kMost_ns)
      refuse(piece, file, fmt::format("baseTimeNanoseconds is {}", piece.text.substr(0, 40)));
    info.base_ns = json.get<std::int64_t>();
  } else if (key == "deviceProperties") {
    const nlohmann::json json = parse(key, piece, file);
    if (!json.is_array()) return;
    info.devices = static_cast<int>(std::min<std::size_t>(json.size(), kMostRanks));
    if (json.empty() || !json[0].is_object()) return;
    if (const auto name = json[0].find("name"); name != json[0].end() && name->is_string())
      info.device_model = name->get<std::string>();
  }
}

std::string host_in_name(const std::filesystem::path& file) {
  std::string name = file.filename().string();
  if (name.ends_with(".gz")) name.resize(name.size() - 3);
  constexpr std::string_view kEnding = ".pt.trace.json";
  if (!name.ends_with(kEnding)) return {};
  name.resize(name.size() - kEnding.size());
  const auto take_digits = [&](char before) {
    const std::size_t at = name.rfind(before);
    const bool fits = at != std::string::npos && at + 1 < name.size() &&
                      name.find_first_not_of("0123456789", at + 1) == std::string::npos;
    if (fits) name.resize(at);
    return fits;
  };
  return take_digits('.') && take_digits('_') ? name : std::string();
}

}  // namespace ddbench::imports
