#include "harness/cli/run/ds_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "core/error.h"
#include "core/library_error/outside_json.h"
#include "core/text/number.h"
#include "harness/cli/options/output.h"

namespace ddbench::cli {
namespace {

using Json = nlohmann::json;

constexpr double kBytesPerMebibyte = 1024 * 1024;
constexpr double kUsualBucketElements = 5e8;  // DeepSpeed's default of reduce_bucket_size

[[noreturn]] void refuse(const std::string& file, const std::string& field, const std::string& why) {
  throw Error(ErrorCode::kBadInput, fmt::format("--ds-config {}: {} {}", file, field, why), 0, file);
}

/// The fields of the file, by their place: "zero_optimization.stage". Remembers which were read.
class Fields {
 public:
  Fields(std::string file, const Json& json) : file_(std::move(file)) { flatten("", json); }

  /// A whole number from `least` on; nothing where it is missing or "auto".
  std::optional<std::int64_t> count(const std::string& field, std::int64_t least) {
    const std::optional<double> value = number(field);
    if (value && (*value < static_cast<double>(least) || *value > 1e9 || *value != std::floor(*value)))
      refuse(file_, field, fmt::format("is {}, but it must be a whole number from {} on", text(field), least));
    return value ? std::optional(static_cast<std::int64_t>(*value)) : std::nullopt;
  }
  std::optional<double> number(const std::string& field) {
    const Json* const value = take(field);
    if (value == nullptr) return std::nullopt;
    if (!value->is_number() || !std::isfinite(value->get<double>())) refuse(file_, field, fmt::format("is {}, but it must be a number", text(field)));
    return value->get<double>();
  }
  std::optional<bool> flag(const std::string& field) {
    const Json* const value = take(field);
    if (value == nullptr) return std::nullopt;
    if (!value->is_boolean()) refuse(file_, field, fmt::format("is {}, but it must be true or false", text(field)));
    return value->get<bool>();
  }
  std::optional<std::string> word(const std::string& field) {
    const Json* const value = take(field);
    if (value == nullptr) return std::nullopt;
    if (!value->is_string()) refuse(file_, field, fmt::format("is {}, but it must be a text", text(field)));
    return value->get<std::string>();
  }
  /// Whether the file does not state it; "auto" leaves it to somebody else.
  bool is_missing(const std::string& field) const {
    const auto found = values_.find(field);
    return found == values_.end() || found->second.is_null();
  }
  std::string text(const std::string& field) const { return values_.at(field).dump(-1, ' ', true, Json::error_handler_t::replace); }
  const std::string& file() const noexcept { return file_; }

  std::vector<std::string> unread() const {
    std::vector<std::string> fields;
    for (const auto& [field, value] : values_) {
      if (!read_.contains(field)) fields.push_back(field);
    }
    return fields;
  }

 private:
  void flatten(const std::string& place, const Json& json) {
    for (const auto& [key, value] : json.items()) {
      const std::string field = place.empty() ? key : place + "." + key;
      if (value.is_object() && !value.empty()) {
        flatten(field, value);
      } else {
        values_.emplace(field, value);
      }
    }
  }
  /// Null where there is no such field, and where it leaves the value to others.
  const Json* take(const std::string& field) {
    const auto found = values_.find(field);
    if (found == values_.end()) return nullptr;
    read_.insert(field);
    return found->second == "auto" || found->second.is_null() ? nullptr : &found->second;
  }

  std::string file_;
  std::map<std::string, Json> values_;
  std::set<std::string> read_;
};

std::string in_words(double value) {
  return fmt::format("{}", value);
}

void read_batch(Fields& fields, int ranks, DsConfig& config) {
  constexpr const char* kMicro = "train_micro_batch_size_per_gpu";
  const auto micro = fields.count(kMicro, 1);
  const auto steps = fields.count("gradient_accumulation_steps", 1);
  const auto whole = fields.count("train_batch_size", 1);
  // Of three numbers and the ranks, DeepSpeed derives the one that is missing.
  constexpr std::int64_t kMost = 1'000'000;  // of each factor: their product is a number then
  if (micro.value_or(1) > kMost || steps.value_or(1) > kMost)
    refuse(fields.file(), micro.value_or(1) > kMost ? kMicro : "gradient_accumulation_steps", fmt::format("is more than {}", kMost));
  const bool derives = !steps && micro && whole && ranks > 0 && *whole % (*micro * ranks) == 0;
  const std::int64_t accumulate = derives ? *whole / (*micro * ranks) : steps.value_or(1);
  if (steps) config.options.push_back({"gradient_accumulation_steps", "--accumulate", std::to_string(*steps)});
  if (derives) config.options.push_back({"train_batch_size", "--accumulate", std::to_string(accumulate)});
  if (!micro) {
    if (whole) config.options.push_back({"train_batch_size", "--global-batch", std::to_string(*whole)});
    return;
  }
  config.options.push_back({kMicro, "--batch-per-gpu", std::to_string(*micro * accumulate)});
  if (!whole || ranks == 0 || *whole == *micro * accumulate * ranks) return;
  refuse(fields.file(), "train_batch_size",
         steps ? fmt::format("is {}, but {} {} x gradient_accumulation_steps {} x {} ranks is {}", *whole, kMicro, *micro, accumulate, ranks,
                             *micro * accumulate * ranks)
               : fmt::format("is {}, which {} {} x {} ranks does not divide", *whole, kMicro, *micro, ranks));
}

/// The device that a part is offloaded to; "none" where it stays.
std::string offloaded_to(Fields& fields, const std::string& part) {
  return fields.word("zero_optimization." + part + ".device").value_or("none");
}

void read_offload(Fields& fields, DsConfig& config) {
  const std::string optimizer = offloaded_to(fields, "offload_optimizer");
  constexpr const char* kOptimizer = "zero_optimization.offload_optimizer.device";
  if (optimizer == "cpu") config.options.push_back({kOptimizer, "--strategy-option", "offload=optimizer"});
  else if (optimizer != "none") refuse(fields.file(), kOptimizer, fmt::format("is \"{}\": ddbench offloads to host memory only. Set it to \"cpu\" or \"none\"", optimizer));
  const std::string parameters = offloaded_to(fields, "offload_param");
  if (parameters != "none") {
    refuse(fields.file(), "zero_optimization.offload_param.device",
           fmt::format("is \"{}\": ddbench keeps parameters where it computes. Set it to \"none\"", parameters));
  }
  for (const char* const old : {"zero_optimization.cpu_offload", "zero_optimization.cpu_offload_params"}) {
    if (fields.flag(old).value_or(false)) refuse(fields.file(), old, "is true, but ddbench reads offload_optimizer only. Set it to false");
  }
}

void read_zero(Fields& fields, DsConfig& config) {
  constexpr const char* kStage = "zero_optimization.stage";
  const auto stage = fields.count(kStage, 0);
  if (stage && *stage > 3) refuse(fields.file(), kStage, fmt::format("is {}, but it must be from 0 to 3", *stage));
  if (stage) config.options.push_back({kStage, "--strategy", *stage == 0 ? "ddp" : fmt::format("zero{}", *stage)});
  const bool shards_parameters = stage.value_or(0) == 3;
  const auto bucket_mb = [](double elements) { return in_words(elements * sizeof(float) / kBytesPerMebibyte); };
  constexpr const char* kBucket = "zero_optimization.reduce_bucket_size";
  if (const auto elements = fields.count(kBucket, 1)) {
    config.options.push_back({kBucket, "--bucket-mb", bucket_mb(static_cast<double>(*elements))});
  } else if (fields.is_missing(kBucket) && shards_parameters) {
    config.notes.push_back(fmt::format("{} is not stated: buckets are those of --bucket-mb. zero3 gathers parameters in them, too, "
                                       "and DeepSpeed gathers them by module", kBucket));
  } else if (fields.is_missing(kBucket)) {
    config.options.push_back({kBucket, "--bucket-mb", bucket_mb(kUsualBucketElements), true});
  }
  constexpr const char* kOverlap = "zero_optimization.overlap_comm";
  if (const auto overlap = fields.flag(kOverlap)) {
    config.options.push_back({kOverlap, "--strategy-option", *overlap ? "overlap=on" : "overlap=off"});
  } else if (fields.is_missing(kOverlap) && !shards_parameters) {  // DeepSpeed overlaps in stage 3 alone
    config.options.push_back({kOverlap, "--strategy-option", "overlap=off", true});
  }
  read_offload(fields, config);
}

void read_precision(Fields& fields, DsConfig& config) {
  const bool fp16 = fields.flag("fp16.enabled").value_or(false);
  const bool old_bf16 = fields.flag("bfloat16.enabled").value_or(false);  // DeepSpeed reads both names
  const bool bf16 = fields.flag("bf16.enabled").value_or(old_bf16);
  const auto scale = fields.number("fp16.loss_scale");
  if (fp16 && bf16) refuse(fields.file(), "fp16.enabled and bf16.enabled", "are both true");
  if (bf16) config.options.push_back({"bf16.enabled", "--precision", "bf16"});
  if (!fp16) return;
  config.options.push_back({"fp16.enabled", "--precision", "fp16"});
  if (scale) config.options.push_back({"fp16.loss_scale", "--loss-scale", *scale == 0 ? "dynamic" : in_words(*scale)});
}

void read_optimizer(Fields& fields, DsConfig& config) {
  static const std::map<std::string, const char*> kNames{{"adam", "adamw"}, {"adamw", "adamw"}, {"sgd", "sgd"}, {"lamb", "lamb"}};
  if (const auto type = fields.word("optimizer.type")) {
    std::string lower = *type;
    for (char& letter : lower) letter = letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter;
    const auto known = kNames.find(lower);
    if (known == kNames.end()) refuse(fields.file(), "optimizer.type", fmt::format("is \"{}\"; supported: Adam, AdamW, SGD, Lamb", *type));
    config.options.push_back({"optimizer.type", "--optimizer", known->second});
    if (lower == "adam") config.notes.push_back("optimizer.type Adam is trained as AdamW, as DeepSpeed does unless adam_w_mode is false");
  }
  for (const auto& [field, option] : {std::pair{"lr", "--lr"}, {"weight_decay", "--weight-decay"}, {"momentum", "--momentum"}}) {
    const std::string place = std::string("optimizer.params.") + field;
    if (const auto value = fields.number(place)) config.options.push_back({place, option, in_words(*value)});
  }
  const auto is_open = [&](const char* field) { return !fields.number(std::string("optimizer.params.") + field); };
  if (is_open("lr")) {
    if (const auto rate = fields.number("scheduler.params.warmup_max_lr")) {
      config.options.push_back({"scheduler.params.warmup_max_lr", "--lr", in_words(*rate)});
    } else {
      config.notes.push_back("optimizer.params.lr is not stated: the rate is that of --lr");
    }
  }
  if (fields.word("optimizer.type").value_or("") == "SGD" && is_open("momentum"))
    config.notes.push_back("optimizer.params.momentum is not stated: it is that of --momentum, and PyTorch has 0");
  if (const auto steps = fields.count("scheduler.params.warmup_num_steps", 0))
    config.options.push_back({"scheduler.params.warmup_num_steps", "--lr-warmup", std::to_string(*steps)});
}

/// Numbers by their value, other texts by their letters.
bool is_same(const std::string& a, const std::string& b) {
  const auto number_a = number_from<double>(a);
  const auto number_b = number_from<double>(b);
  return number_a && number_b ? *number_a == *number_b : a == b;
}

/// The batch that was given in the other unit, in the unit of `option`; nothing where it was not given.
std::optional<double> other_batch(const CLI::App& command, const std::string& option, int ranks) {
  const bool per_gpu = option == "--batch-per-gpu";
  if (!per_gpu && option != "--global-batch") return std::nullopt;
  const CLI::Option* const other = command.get_option(per_gpu ? "--global-batch" : "--batch-per-gpu");
  if (other->count() == 0) return std::nullopt;
  const double batch = number_from<double>(other->results().back()).value_or(0);
  const int factor = std::max(ranks, 1);
  return per_gpu ? batch / factor : batch * factor;
}

/// Of -S, which takes several: the one with the same key.
std::vector<std::string> given(const CLI::Option& option, const std::string& value) {
  std::vector<std::string> results = option.results();
  if (const std::size_t equals = value.find('='); equals != std::string::npos)
    std::erase_if(results, [&](const std::string& other) { return !other.starts_with(value.substr(0, equals + 1)); });
  return results;
}

}  // namespace

DsConfig read_ds_config(const std::string& file, int ranks) {
  constexpr std::size_t kMostBytes = 4 << 20;
  std::error_code unknown;
  std::ifstream input(file);
  if (!input || std::filesystem::is_directory(file, unknown)) throw Error(ErrorCode::kBadInput, fmt::format("--ds-config {}: it cannot be read", file), 0, file);
  Json json;
  try {
    std::string text(kMostBytes + 1, '\0');
    input.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(input.gcount()));
    if (text.size() > kMostBytes) throw Error(ErrorCode::kBadInput, fmt::format("it has more than {} bytes", kMostBytes));
    check_outside_json(text);
    json = Json::parse(text);
  } catch (const Error& error) {
    refuse(file, "cannot be read:", error.message());
  } catch (const Json::exception& error) {
    refuse(file, "is no JSON:", error.what());
  }
  if (!json.is_object()) refuse(file, "its content", "must be an object");
  Fields fields(file, json);
  DsConfig config;
  read_batch(fields, ranks, config);
  read_zero(fields, config);
  read_precision(fields, config);
  read_optimizer(fields, config);
  if (const auto unread = fields.unread(); !unread.empty())
    config.notes.push_back(fmt::format("not read: {}", fmt::join(unread, ", ")));
  return config;
}

void apply_ds_config(CLI::App& command, const std::string& file, int ranks) {
  DsConfig config = read_ds_config(file, ranks);
  const bool states_strategy = std::any_of(config.options.begin(), config.options.end(),
                                           [](const DsOption& from) { return from.option == "--strategy"; });
  const bool is_another_strategy = !states_strategy && command.get_option("--strategy")->count() > 0;
  std::vector<std::string> defaults;
  for (const DsOption& from : config.options) {
    CLI::Option* const option = command.get_option(from.option);
    std::vector<std::string> results = given(*option, from.value);
    if (const auto batch = other_batch(command, from.option, ranks)) results = {in_words(*batch)};
    if (from.is_default && (is_another_strategy || !results.empty())) continue;
    if (!results.empty() && !is_same(results.back(), from.value)) {
      refuse(file, from.field, fmt::format("is {} {}, but {} was given. Leave one of them out", from.option, from.value, results.back()));
    }
    if (!results.empty()) continue;
    option->add_result(from.value);
    option->run_callback();
    if (from.is_default) defaults.push_back(fmt::format("{} ({} {})", from.field, from.option, from.value));
  }
  if (!defaults.empty()) config.notes.push_back(fmt::format("as DeepSpeed has it where nothing is stated: {}", fmt::join(defaults, ", ")));
  for (const std::string& note : config.notes) print_error(printable(fmt::format("note: --ds-config {}: {}", file, note)) + "\n");
}

}  // namespace ddbench::cli
