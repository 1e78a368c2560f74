#include "analyzer/comparison/best_setting.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "core/run_case/case_fields.h"

namespace ddbench::analyzer {
namespace {

using Fields = std::map<std::string, std::string>;

/// What can be tuned without training something else. Names of maps stand for all of their keys.
bool is_setting(const std::string& name) {
  static const std::set<std::string> kSettings{"strategy", "strategy_options", "bucket_bytes", "first_bucket_bytes",
                                               "data_workers", "prefetch", "accumulate", "precision",
                                               "backend", "cuda_graph"};
  return kSettings.contains(name.substr(0, name.find('.')));
}

struct Setting {
  const CaseFigures* figures;
  Fields fields;
};

Fields fields_of(const RunCase& run_case, bool settings) {
  Fields fields;
  for (const auto& [name, field] : case_fields(run_case)) {
    const bool counts = field.role != FieldRole::kLabel && field.role != FieldRole::kSampling;
    if (counts && is_setting(name) == settings) fields[name] = field.text;
  }
  return fields;
}

std::set<std::string> varied_names(const std::vector<Setting>& settings) {
  std::map<std::string, std::set<std::string>> values;
  for (const Setting& setting : settings) {
    for (const auto& [name, text] : setting.fields) values[name];
  }
  std::set<std::string> varied;
  for (auto& [name, texts] : values) {
    for (const Setting& setting : settings) {
      const auto found = setting.fields.find(name);  // an option that others set is absent
      texts.insert(found == setting.fields.end() ? std::string() : found->second);
    }
    if (texts.size() > 1) varied.insert(name);
  }
  return varied;
}

std::string in_words(const Setting& setting, const std::set<std::string>& varied) {
  std::string text;
  for (const std::string& name : varied) {
    const auto found = setting.fields.find(name);
    const std::string value = found == setting.fields.end() || found->second.empty() ? "default" : found->second;
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  }
  return text;
}

Quantity samples_per_s(const CaseFigures& figures) {
  const Measured<Quantity>& step_time_ns = figures.step_time_ns;
  if (!step_time_ns) return {figures.samples_per_s, Measured<ConfidenceInterval>::missing(step_time_ns.reason())};
  Quantity rate{figures.samples_per_s, Measured<ConfidenceInterval>::missing(step_time_ns->interval.reason())};
  if (const auto& step = step_time_ns->interval; step && step->low > 0) {
    const double samples_ns = figures.samples_per_s * step_time_ns->value;
    rate.interval = ConfidenceInterval{samples_ns / step->high, samples_ns / step->low, step->level, step->method};
  }
  return rate;
}

BestSetting best_of(std::vector<Setting> settings) {
  std::stable_sort(settings.begin(), settings.end(), [](const Setting& a, const Setting& b) {
    return a.figures->samples_per_s > b.figures->samples_per_s;
  });
  const std::set<std::string> varied = varied_names(settings);
  const CaseFigures& first = *settings.front().figures;
  const double level = 1 - 0.05 / static_cast<double>(settings.size() - 1);
  BestSetting best{.run_case = first.run_case,
                   .setting = in_words(settings.front(), varied),
                   .settings = static_cast<int>(settings.size()),
                   .samples_per_s = samples_per_s(first),
                   .next = in_words(settings[1], varied),
                   .over_next = {},
                   .as_good = {}};
  for (std::size_t i = 1; i < settings.size(); ++i) {
    const RunRatio ratio =
        ratio_of_runs(first.run_samples_per_s, settings[i].figures->run_samples_per_s, level);
    if (!ratio.interval || ratio.interval->low <= 1) best.as_good.push_back(in_words(settings[i], varied));
    if (i == 1) best.over_next = ratio;
  }
  return best;
}

}  // namespace

std::vector<BestSetting> best_settings(std::span<const CaseFigures> cases) {
  std::vector<std::pair<Fields, std::vector<Setting>>> kinds;
  for (const CaseFigures& figures : cases) {
    if (!figures.without_samples.empty()) continue;
    Fields kind = fields_of(figures.run_case, false);
    auto found = std::find_if(kinds.begin(), kinds.end(), [&](const auto& entry) { return entry.first == kind; });
    if (found == kinds.end()) found = kinds.insert(kinds.end(), {std::move(kind), {}});
    found->second.push_back({&figures, fields_of(figures.run_case, true)});
  }
  std::vector<BestSetting> best;
  for (auto& [kind, settings] : kinds) {
    if (settings.size() > 1 && !varied_names(settings).empty()) best.push_back(best_of(std::move(settings)));
  }
  return best;
}

}  // namespace ddbench::analyzer
