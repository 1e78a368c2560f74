#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "analyzer/import/nccl_tests/nccl_results.h"
#include "core/error.h"
#include "core/span_limits.h"

namespace ddbench::imports {
namespace {

using Json = nlohmann::json;

constexpr std::int64_t kMostRanksAProcess = 65536;

class JsonReader {
 public:
  JsonReader(const Json& root, const std::string& origin) : root_(root), origin_(origin) {}

  NcclResults read() {
    if (!root_.is_object() || !root_.contains("results") || !root_["results"].is_array()) {
      fail("this is not what nccl-tests write with -J: it has no list \"results\"");
    }
    if (root_.contains("args") && root_["args"].is_array() && !root_["args"].empty() &&
        root_["args"][0].is_string()) {
      results_.function = function_of_program(root_["args"][0].get<std::string>());
    }
    if (root_.contains("config")) read_config(root_["config"]);
    for (std::size_t i = 0; i < root_["results"].size(); ++i)
      read_result(root_["results"][i], fmt::format("result {}", i + 1));
    return std::move(results_);
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ErrorCode::kBadInput, fmt::format("{}: {}", origin_, what), 0, origin_);
  }

  void read_config(const Json& config) {
    if (!config.is_object()) fail("\"config\" is no object");
    results_.iterations = std::max<std::int64_t>(0, integer(config, "iterations", 0));
    const double threads = static_cast<double>(integer(config, "nthreads", 1));
    const auto a_process = static_cast<std::int64_t>(std::clamp(
        threads * static_cast<double>(integer(config, "ngpus", 1)), 0.0, 2.0 * kMostRanksAProcess));
    if (!config.contains("devices") || !config["devices"].is_array() || a_process < 1 ||
        a_process > kMostRanksAProcess)
      return;
    std::set<std::int64_t> ranks;
    bool first_of_processes = true;
    for (const Json& device : config["devices"]) {
      const std::int64_t rank = integer(device, "rank", -1);
      if (rank < 0 || !ranks.insert(rank).second) continue;
      first_of_processes &= rank % a_process == 0;
      results_.hosts.push_back(text(device, "hostname"));
      results_.models.push_back(text(device, "device_info"));
    }
    // Some versions list only the first rank of each process.
    const auto listed = static_cast<std::int64_t>(ranks.size());
    const std::int64_t all = first_of_processes ? listed * std::min<std::int64_t>(a_process, kMostRanks) : listed;
    if (all > kMostRanks) fail(fmt::format("it has {} ranks, which are too many", all));
    results_.ranks = static_cast<int>(all);
  }

  void read_result(const Json& result, const std::string& where) {
    if (!result.is_object()) fail(where + " is no object");
    const double bytes = number(result, "size", where);
    if (bytes == 0) return;
    results_.type = text(result, "type");
    results_.redop = text(result, "redop");
    for (const char* place : {"out_of_place", "in_place"}) {
      if (!result.contains(place) || result[place].is_null()) continue;
      const Json& measured = result[place];
      if (!measured.is_object()) fail(fmt::format("{}: {} is no object", where, place));
      const std::string name = fmt::format("{}, {}", where, place);
      NcclMeasurement measurement{name,
                                  bytes,
                                  number(measured, measured.contains("cpu_time") ? "cpu_time" : "time", name),
                                  number(measured, "alg_bw", name),
                                  number(measured, "bus_bw", name),
                                  {}};
      if (measured.contains("nwrong") && !measured["nwrong"].is_null())
        measurement.wrong = number(measured, "nwrong", name);
      (place == std::string_view("in_place") ? results_.in_place : results_.out_of_place)
          .push_back(std::move(measurement));
    }
  }

  double number(const Json& object, const char* key, const std::string& where) const {
    const auto found = object.find(key);
    if (found == object.end() || !found->is_number()) {
      // What lies deep in lists must not be written out: that recurses.
      fail(fmt::format("{}: {} is {}, but it must be a number", where, key,
                       found == object.end()    ? "missing"
                       : found->is_primitive() ? found->dump()
                                               : found->type_name()));
    }
    const double value = found->get<double>();
    if (!std::isfinite(value) || value < 0)
      fail(fmt::format("{}: {} is {}, but it must be 0 or more", where, key, value));
    return value;
  }

  std::int64_t integer(const Json& object, const char* key, std::int64_t otherwise) const {
    return object.is_object() && object.contains(key) && object[key].is_number_integer()
               ? object[key].get<std::int64_t>()
               : otherwise;
  }

  std::string text(const Json& object, const char* key) const {
    return object.is_object() && object.contains(key) && object[key].is_string()
               ? object[key].get<std::string>()
               : std::string();
  }

  const Json& root_;
  const std::string& origin_;
  NcclResults results_;
};

}  // namespace

NcclResults read_nccl_json(std::string_view text, const std::string& origin) {
  Json root;
  try {
    root = Json::parse(text);
  } catch (const Json::exception& error) {  // no JSON, or a number that no double holds
    throw Error(ErrorCode::kBadInput, fmt::format("{}: this is not valid JSON: {}", origin, error.what()), 0,
                origin);
  }
  return JsonReader(root, origin).read();
}

}  // namespace ddbench::imports
