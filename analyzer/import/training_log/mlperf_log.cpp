#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "analyzer/import/training_log/log_rows.h"
#include "core/error.h"

namespace ddbench::imports {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kMark = ":::MLLOG ";
constexpr double kLargestWhole = 9e15;

std::optional<double> number_in(const Json& json, const char* key) {
  if (!json.is_object()) return std::nullopt;
  const auto found = json.find(key);
  return found != json.end() && found->is_number() ? std::optional(found->get<double>()) : std::nullopt;
}

/// An entry's value is a number, or an object that has one under the key.
std::optional<double> value_of(const Json& entry, const std::string& key, const char* wanted) {
  const auto value = entry.find("value");
  if (value == entry.end()) return std::nullopt;
  if (key == wanted && value->is_number()) return value->get<double>();
  return number_in(*value, wanted);
}

std::optional<std::int64_t> count_of(std::optional<double> number) {
  if (!number || !(*number >= 0) || *number > kLargestWhole) return std::nullopt;
  return static_cast<std::int64_t>(*number);
}

/// A count that stands in the entry's metadata or value under one of some names.
std::optional<std::int64_t> count_in(const Json& entry, std::initializer_list<const char*> keys) {
  for (const char* place : {"metadata", "value"}) {
    const auto found = entry.find(place);
    if (found == entry.end()) continue;
    for (const char* key : keys) {
      if (const auto count = count_of(number_in(*found, key))) return count;
    }
  }
  return std::nullopt;
}

/// A line with a figure of training. Programs count in `step` whatever they like: steps, samples, tokens or epochs.
struct Entry {
  LogRow row;
  std::optional<std::int64_t> step;
  std::optional<std::int64_t> samples;  ///< "samples_count"
  std::optional<double> at_ms;          ///< when it was written
  double throughput = 0;                ///< of samples or tokens: its name does not say

  std::optional<std::int64_t> count() const { return samples ? samples : step; }
};

class MlperfReader {
 public:
  MlperfReader(const std::string& origin, std::int64_t global_batch) : origin_(origin), global_batch_(global_batch) {}

  LogContent read(std::string_view text) {
    each_line(text, [&](std::string_view line, int number) {
      const std::size_t at = line.find(kMark);
      if (at == std::string_view::npos) return;
      const Json entry = Json::parse(line.substr(at + kMark.size()), nullptr, false);
      if (entry.is_discarded() || !entry.is_object())
        throw Error(ErrorCode::kBadInput, fmt::format("{} line {}: what follows :::MLLOG is no JSON object", origin_, number), 0, origin_);
      read_entry(entry, number);
    });
    if (global_batch_ == 0) global_batch_ = content_.job.global_batch;
    leave_out_means();
    settle_throughput();
    number_steps();
    for (const Entry& entry : entries_) content_.rows.push_back(entry.row);
    return std::move(content_);
  }

 private:
  void read_entry(const Json& json, int line) {
    const auto key_found = json.find("key");
    if (key_found == json.end() || !key_found->is_string()) return;
    const std::string key = key_found->get<std::string>();
    for (const auto& [name, value] : {std::pair("global_batch_size", &content_.job.global_batch),
                                      std::pair("max_sequence_length", &sequence_length_), std::pair("train_samples", &train_samples_)}) {
      if (key != name) continue;
      if (const auto count = count_of(value_of(json, key, name)); count && *count > 0) *value = *count;
      return;
    }
    Entry entry;
    entry.samples = count_in(json, {"samples_count"});
    counts_samples_ = counts_samples_ || entry.samples.has_value();
    LogRow& row = entry.row;
    row.line = line;
    for (const char* name : {"train_step_timing", "train_step_time"}) {
      if (const auto seconds = value_of(json, key, name)) row.step_ns = *seconds * 1e9;
    }
    for (const char* name : {"imgs_sec", "samples_per_sec"}) {
      if (const auto rate = value_of(json, key, name)) row.samples_per_s = *rate;
    }
    if (const auto rate = value_of(json, key, "throughput"); rate && row.samples_per_s == 0) entry.throughput = *rate;
    if (row.step_ns == 0 && row.samples_per_s == 0 && entry.throughput == 0) return;
    for (const char* name : {"train_loss", "loss", "reduced_train_loss"}) {
      if (const auto loss = value_of(json, key, name)) row.loss = *loss;
    }
    entry.step = count_in(json, {"step", "iteration", "step_num"});
    entry.at_ms = number_in(json, "time_ms");
    entries_.push_back(entry);
  }

  /// Where lines state the times of steps, one with a throughput alone is a mean over many of them, such as an epoch.
  void leave_out_means() {
    const auto has_time = [](const Entry& entry) { return entry.row.step_ns != 0; };
    if (std::any_of(entries_.begin(), entries_.end(), has_time)) std::erase_if(entries_, [&](const Entry& entry) { return !has_time(entry); });
  }

  void settle_throughput() {
    const auto first = std::find_if(entries_.begin(), entries_.end(), [](const Entry& entry) { return entry.throughput > 0; });
    if (first == entries_.end() || first->row.step_ns != 0) return;
    // Without a batch the rows are refused for that.
    const std::optional<double> units = global_batch_ == 0 ? std::optional(1.0) : units_of_a_sample();
    if (!units) {
      throw Error(ErrorCode::kBadInput,
                  fmt::format("{} line {}: nothing in the log settles whether its throughput is of samples or of tokens (two such lines with time "
                              "stamps and steps do, and max_sequence_length if it is of tokens): `ddbench import log --format regex --regex "
                              "'\"throughput\": ([0-9.]+)' --groups samples_per_s` takes it as it is, with a --global-batch of the same unit",
                              origin_, first->row.line),
                  0, origin_);
    }
    for (Entry& entry : entries_) {
      if (entry.throughput > 0) entry.row.samples_per_s = entry.throughput / *units;
    }
    if (*units > 1) content_.notes.push_back(fmt::format("the log's throughput is of tokens, {:.0f} to a sample", *units));
  }

  /// What was done between the lines by their throughput, and what they count between them.
  struct Progress {
    double done = 0;
    double counted = 0;
    bool is_batches = true;    ///< whole batches of samples
    bool is_sequences = true;  ///< whole batches of tokens
  };

  Progress progress() const {
    Progress progress;
    const Entry* before = nullptr;
    for (const Entry& entry : entries_) {
      if (entry.throughput <= 0 || !entry.count() || !entry.at_ms) continue;
      const std::int64_t counted = before == nullptr ? 0 : *entry.count() - *before->count();
      if (counted > 0 && *entry.at_ms > *before->at_ms) {
        progress.done += entry.throughput * (*entry.at_ms - *before->at_ms) / 1e3;
        progress.counted += static_cast<double>(counted);
        progress.is_batches = progress.is_batches && counted % global_batch_ == 0;
        progress.is_sequences = progress.is_sequences && counted % global_batch_ == 0 && counted / global_batch_ % sequence_length() == 0;
      }
      before = &entry;
    }
    return progress;
  }

  /// How many units of the throughput make a sample: 1, or the tokens of a sequence. Nothing where the log does not settle it.
  std::optional<double> units_of_a_sample() const {
    const Progress lines = progress();
    if (lines.counted <= 0) return std::nullopt;
    // Between the lines there are evaluations, too.
    const auto is_done = [&](double units) { return lines.done >= units / 2 && lines.done <= units * 8; };
    const auto batch = static_cast<double>(global_batch_);
    const auto tokens = static_cast<double>(sequence_length());
    if (lines.is_batches && is_done(lines.counted)) {  // they count what the throughput is of
      if (sequence_length_ > 0) return lines.is_sequences ? tokens : 1;
      return counts_samples_ ? std::optional(1.0) : std::nullopt;
    }
    std::set<double> fitting;
    if (is_done(lines.counted * batch)) fitting.insert(1);
    if (sequence_length_ > 0 && is_done(lines.counted * batch * tokens)) fitting.insert(tokens);
    // Epochs. Programs that train on tokens count these in train_samples.
    if (sequence_length_ == 0 && train_samples_ > 0 && is_done(lines.counted * static_cast<double>(train_samples_))) fitting.insert(1);
    return fitting.size() == 1 ? std::optional(*fitting.begin()) : std::nullopt;
  }

  std::int64_t sequence_length() const { return std::max<std::int64_t>(sequence_length_, 1); }

  /// Steps that are all multiples of a batch count its samples or tokens.
  void number_steps() {
    const auto are_all = [&](std::int64_t unit) {
      return unit > 1 && std::all_of(entries_.begin(), entries_.end(), [&](const Entry& entry) { return !entry.step || *entry.step % unit == 0; });
    };
    std::int64_t batch_tokens = 0;
    if (__builtin_mul_overflow(global_batch_, sequence_length_, &batch_tokens)) batch_tokens = 0;
    const std::int64_t unit = are_all(batch_tokens) ? batch_tokens : are_all(global_batch_) ? global_batch_ : 1;
    std::int64_t number = 0;
    for (Entry& entry : entries_) {
      ++number;
      entry.row.step = entry.step                             ? *entry.step / unit
                       : entry.samples && global_batch_ > 0 ? *entry.samples / global_batch_
                                                              : number;
    }
  }

  const std::string& origin_;
  std::int64_t global_batch_;
  std::int64_t sequence_length_ = 0;  ///< 0: not stated
  std::int64_t train_samples_ = 0;    ///< of the data set; 0: not stated
  bool counts_samples_ = false;       ///< it has a "samples_count"
  std::vector<Entry> entries_;
  LogContent content_;
};

}  // namespace

LogContent read_mlperf(std::string_view text, const std::string& origin, std::int64_t global_batch) {
  return MlperfReader(origin, global_batch).read(text);
}

}  // namespace ddbench::imports
