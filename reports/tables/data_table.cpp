#include "reports/tables/data_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "analyzer/run/case_figures.h"
#include "core/text/quantity.h"
#include "reports/text/phrases.h"
#include "reports/text/safe_text.h"

namespace ddbench::reports {

DataCell text_cell(std::string text, CellTone tone) {
  return {.text = std::move(text), .tone = tone};
}

DataCell code_cell(std::string text) {
  return {.text = std::move(text), .is_code = true};
}

DataCell run_cell(const std::string& id) {
  DataCell cell = code_cell(id);
  cell.page = "run/" + url_segment(id);
  return cell;
}

DataCell sweep_cell(const std::string& id) {
  DataCell cell = code_cell(id);
  cell.page = "sweep/" + url_segment(id);
  return cell;
}

DataCell value_cell(double value, std::string text, CellTone tone) {
  return {.text = std::move(text), .sort_by = value, .tone = tone};
}

DataCell time_cell(double time_ns) {
  return value_cell(time_ns, time_in_words(time_ns));
}

DataCell count_cell(std::int64_t count) {
  return value_cell(static_cast<double>(count), count_in_words(count));
}

DataCell nodes_cell(const RunCase& run_case) {
  return run_case.nodes_not_stated ? missing_cell("the imported source does not state how the GPUs sit in nodes") : count_cell(run_case.nodes);
}

DataCell missing_cell(std::string reason) {
  return {.text = "–", .tone = CellTone::kFaint, .why = std::move(reason)};
}

DataCell quantity_cell(const Measured<double>& value, std::string_view unit, int significant) {
  if (!value) return missing_cell(value.reason());
  if (unit == "ns") return time_cell(*value);
  const bool is_plain = unit == "1" || unit == "samples/s";
  return value_cell(*value, is_plain ? number(*value, significant) : quantity(*value, unit == "bytes" ? "B" : unit));
}

DataCell percent_cell(const Measured<double>& share) {
  return share ? value_cell(*share, percent_in_words(*share)) : missing_cell(share.reason());
}

DataCell efficiency_cell(const Measured<double>& share) {
  DataCell cell = percent_cell(share);
  if (share) cell.tone = efficiency_tone(*share);
  return cell;
}

DataCell interval_cell(const Measured<ConfidenceInterval>& interval, std::string_view unit, int significant) {
  if (!interval) return missing_cell(interval.reason());
  const auto shown = [&](double value) {
    return unit == "1" ? number(value, significant) : unit == "ns" ? time_in_words(value) : quantity(value, unit);
  };
  DataCell cell = value_cell(interval->low, fmt::format("{} to {}", shown(interval->low), shown(interval->high)));
  cell.why = interval->method;
  return cell;
}

DataCell percent_interval_cell(const Measured<ConfidenceInterval>& interval) {
  if (!interval) return missing_cell(interval.reason());
  DataCell cell = value_cell(interval->low, fmt::format("{:.1f} to {:.1f}%", 100 * interval->low, 100 * interval->high));
  cell.why = interval->method;
  return cell;
}

DataCell half_width_cell(double value, const Measured<ConfidenceInterval>& interval) {
  DataCell cell = value_cell(value, number(value));
  if (!interval) {
    cell.why = "no interval: " + interval.reason();
    return cell;
  }
  cell.text += " ±" + uncertainty((interval->high - interval->low) / 2);
  cell.why = interval->method;
  return cell;
}

DataCell step_time_cell(const Measured<analyzer::Quantity>& step_time_ns) {
  return step_time_ns ? time_cell(step_time_ns->value) : missing_cell(step_time_ns.reason());
}

DataCell step_time_half_width_cell(const Measured<analyzer::Quantity>& step_time_ns) {
  if (!step_time_ns) return missing_cell(step_time_ns.reason());
  const auto& interval = step_time_ns->interval;
  if (!interval) return missing_cell(interval.reason());
  if (step_time_ns->value <= 0) return missing_cell("the value is 0");
  const double half = (interval->high - interval->low) / 2 / step_time_ns->value;
  DataCell cell = value_cell(half, "±" + percent_in_words(half));
  cell.why = interval->method;
  return cell;
}

DataCell rate_cell(double work_per_s, const std::string& without_samples, double ranks) {
  DataCell cell = value_cell(without_samples.empty() ? work_per_s : work_per_s / std::max(ranks, 1.0), rate_in_words(work_per_s, without_samples.empty(), ranks));
  cell.why = without_samples;
  return cell;
}

DataCell provenance_cell(ProvenanceSet provenance) {
  DataCell cell = text_cell(provenance_in_words(provenance), CellTone::kFaint);
  cell.brief = provenance_in_letters(provenance);
  return cell;
}

CellTone efficiency_tone(double efficiency) {
  if (efficiency < 0.5) return CellTone::kBad;
  return efficiency < 0.8 || efficiency > analyzer::kMostPlausibleEfficiency ? CellTone::kWarning : CellTone::kGood;
}

DataCell NumberedTexts::cell(const std::string& text, bool names_kind) {
  if (text.empty()) return text_cell("–");
  const auto found = std::find(texts_.begin(), texts_.end(), text);
  const auto index = found - texts_.begin();
  if (found == texts_.end()) texts_.push_back(text);
  DataCell cell = text_cell(text);
  cell.brief = names_kind ? fmt::format("{} {}", kind_, index + 1) : std::to_string(index + 1);
  return cell;
}

void NumberedTexts::explain(std::vector<std::string>& legend) const {
  for (std::size_t i = 0; i < texts_.size(); ++i) legend.push_back(fmt::format("{} {}: {}", kind_, i + 1, texts_[i]));
}

}  // namespace ddbench::reports
