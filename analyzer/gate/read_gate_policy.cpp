#include <fmt/format.h>

#include <fstream>
#include <functional>
#include <sstream>

#include "analyzer/gate/gate_policy.h"
#include "core/error.h"
#include "core/library_error/toml.h"

namespace ddbench::analyzer {
namespace {

constexpr std::size_t kLargestFile = 1 << 20;

/// Reads the nodes of one file; every complaint names the file and the node's line.
class PolicyReader {
 public:
  explicit PolicyReader(std::string_view file) : file_(file) {}

  [[noreturn]] void fail(const toml::source_region& where, const std::string& message) const {
    throw Error(ErrorCode::kBadInput, fmt::format("{}:{}: {}", file_, where.begin.line, message), 0, file_);
  }

  double share(const toml::node& node, std::string_view key) const {
    if (const auto* text = node.as_string())
      return located(node, [&] { return parse_share(text->get(), key); });
    return parse_share_of_number(node, key);
  }
  double fraction(const toml::node& node, std::string_view key) const {
    if (const auto* number = node.as_floating_point()) return number->get();
    fail(node.source(), fmt::format("{} must be a number such as 0.99", key));
  }
  int count(const toml::node& node, std::string_view key) const {
    const auto* number = node.as_integer();
    if (number == nullptr || number->get() < 0 || number->get() > 1'000'000) {
      fail(node.source(), fmt::format("{} must be a whole number that is not negative", key));
    }
    return static_cast<int>(number->get());
  }
  std::vector<std::string> texts(const toml::node& node, std::string_view key) const {
    std::vector<std::string> found;
    const auto* array = node.as_array();
    if (array == nullptr) fail(node.source(), fmt::format("{} must be a list of texts", key));
    for (const toml::node& entry : *array) {
      if (!entry.is_string()) fail(entry.source(), fmt::format("{} must hold texts only", key));
      found.push_back(entry.as_string()->get());
    }
    return found;
  }
  /// Calls `read`, adding file and line to its error messages.
  template <typename Read>
  auto located(const toml::node& node, Read&& read) const -> decltype(read()) {
    try {
      return read();
    } catch (const Error& error) {
      fail(node.source(), error.message());
    }
  }

 private:
  double parse_share_of_number(const toml::node& node, std::string_view key) const {
    const auto* number = node.as_floating_point();
    if (number == nullptr) fail(node.source(), fmt::format("{} must be a share: \"3%\" or 0.03", key));
    return located(node, [&] { return parse_share(fmt::format("{}", number->get()), key); });
  }

  std::string file_;
};

using ReadKey = std::function<void(const toml::node&, std::string_view key)>;

void read_thresholds(const PolicyReader& reader, const toml::node& node, GatePolicy& policy) {
  const auto* table = node.as_table();
  if (table == nullptr)
    reader.fail(node.source(), "thresholds must be a table: [thresholds] and metric = \"3%\"");
  for (const auto& [key, value] : *table) {
    const std::string name(key.str());
    const RunMetric metric = reader.located(value, [&] { return run_metric_from(name); });
    policy.thresholds[metric] = reader.share(value, "the threshold of " + name);
  }
}

std::map<std::string, ReadKey, std::less<>> keys_of(const PolicyReader& reader, GatePolicy& policy) {
  const auto share = [&reader](double& field) {
    return
        [&reader, &field](const toml::node& node, std::string_view key) { field = reader.share(node, key); };
  };
  const auto count = [&reader](int& field) {
    return
        [&reader, &field](const toml::node& node, std::string_view key) { field = reader.count(node, key); };
  };
  return {
      {"metrics",
       [&](const toml::node& node, std::string_view key) {
         policy.metrics.clear();
         for (const std::string& name : reader.texts(node, key)) {
           policy.metrics.push_back(reader.located(node, [&] { return run_metric_from(name); }));
         }
       }},
      {"threshold", share(policy.threshold)},
      {"thresholds",
       [&](const toml::node& node, std::string_view) { read_thresholds(reader, node, policy); }},
      {"confidence",
       [&](const toml::node& node, std::string_view key) { policy.confidence = reader.fraction(node, key); }},
      {"min_pairs", count(policy.min_pairs)},
      {"repeat_on_fail", count(policy.repeat_on_fail)},
      {"min_sessions", count(policy.min_sessions)},
      {"session_spread", share(policy.session_spread)},
      {"drift_spread", share(policy.drift_spread)},
      {"vary",
       [&](const toml::node& node, std::string_view key) {
         for (std::string& field : reader.texts(node, key)) policy.vary.insert(std::move(field));
       }},
  };
}

}  // namespace

GatePolicy parse_policy(std::string_view text, std::string_view file) {
  const toml::table table = parse_toml(text, file);
  GatePolicy policy;
  const PolicyReader reader(file);
  const auto keys = keys_of(reader, policy);
  for (const auto& [key, node] : table) {
    const auto known = keys.find(std::string_view(key.str()));
    if (known == keys.end()) {
      std::string allowed;
      for (const auto& [name, read] : keys) allowed += (allowed.empty() ? "" : ", ") + name;
      reader.fail(key.source(), fmt::format("a policy has no key \"{}\"; it has {}", key.str(), allowed));
    }
    known->second(node, known->first);
  }
  try {
    validate(policy);
  } catch (const Error& error) {
    throw Error(ErrorCode::kBadInput, fmt::format("{}: {}", file, error.message()), 0, std::string(file));
  }
  return policy;
}

GatePolicy read_policy(const std::filesystem::path& file) {
  std::ifstream input(file, std::ios::binary);
  std::ostringstream text;
  if (!std::filesystem::is_regular_file(file) || !(text << input.rdbuf())) {
    throw Error(ErrorCode::kBadInput, fmt::format("cannot read the policy {}", file.string()), 0,
                file.string());
  }
  if (text.str().size() > kLargestFile) {
    throw Error(ErrorCode::kBadInput, fmt::format("{} is too large to be a policy", file.string()), 0,
                file.string());
  }
  return parse_policy(text.str(), file.string());
}

}  // namespace ddbench::analyzer
