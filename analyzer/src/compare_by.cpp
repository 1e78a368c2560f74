#include "ddbench/analyzer/compare_by.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <tuple>

#include "ddbench/record/error.h"
#include "run_fields.h"
#include "run_groups.h"

namespace ddbench::analyzer {
namespace {

constexpr const char* kNotProved = "not proved";

std::string value_of(const std::map<std::string, RunField>& fields, const std::string& field) {
  const auto found = fields.find(field);
  std::string value = found == fields.end() ? "" : found->second.text;
  if (value.empty() && field == "network") value = kNotProved;
  return value;
}

/// What two runs must share to be compared: all that defines a run but the field, and what goes with it.
std::string rest_of(const std::map<std::string, RunField>& fields, const std::string& field) {
  static const std::set<std::string> kNeverCompared = {"seed", "provenance", "fingerprint", "network"};
  std::string rest;
  for (const auto& [name, value] : fields) {
    if (!value.defines || name == field || kNeverCompared.count(name) != 0) continue;
    if (field == "network" && name == "link") continue;
    if (field == "world_size" && (name == "nodes" || name == "gpus_per_node")) continue;
    rest += fmt::format("{}={}\n", name, value.text);
  }
  return rest;
}

/// The rest without the size: rows that share it make a curve.
std::string rest_without_size(const RunCase& run_case, const std::string& field) {
  store::RunRecord run;
  run.run_case = run_case;
  run.run_case.nodes = run.run_case.gpus_per_node = 1;
  if (run_case.scaling == ScalingMode::kStrong) run.run_case.batch_per_gpu = run_case.global_batch();
  if (run_case.nodes == 1) run.run_case.link.clear();
  return rest_of(run_fields(run), field);
}

/// Runs of one case and value.
struct Cell {
  std::string rest;
  std::string value;
  std::vector<RunSummary> runs;
};

std::vector<double> rates(const Cell& cell) {
  std::vector<double> values;
  for (const RunSummary& summary : cell.runs) values.push_back(*summary.samples_per_s);
  return values;
}

class Grouping {
 public:
  Grouping(const store::RunStore& store, std::span<const store::RunRecord> runs, GroupComparison& result)
      : result_(result) {
    std::vector<store::RunRecord> oldest_first(runs.begin(), runs.end());
    std::stable_sort(oldest_first.begin(), oldest_first.end(),
                     [](const auto& a, const auto& b) { return a.started_wall_ns < b.started_wall_ns; });
    for (RunSummary& summary : usable_summaries(store, oldest_first, result.notes)) add(std::move(summary));
    if (cells_.empty()) {
      throw Error(ErrorCode::kBadInput, fmt::format("none of the {} runs gave figures", runs.size()));
    }
  }

  void put_first(const std::string& reference) {
    std::vector<std::string>& values = result_.values;
    sort_numbers(values);
    const std::string wanted = reference.empty() ? cells_.front().value : reference;
    const auto found = std::find(values.begin(), values.end(), wanted);
    if (found == values.end()) {
      throw Error(ErrorCode::kBadInput, fmt::format("no run has {} \"{}\"; there are {}", result_.field,
                                                    wanted, fmt::join(values, ", ")));
    }
    std::rotate(values.begin(), found, found + 1);
  }

  void build() {
    std::stable_sort(cells_.begin(), cells_.end(),
                     [&](const Cell& a, const Cell& b) { return order(a) < order(b); });
    for (const Cell& cell : cells_) add_row(cell);
    for (GroupRow& row : result_.rows) row.efficiency = efficiency_of(row);
    add_collectives();
    add_fits();
    add_notes();
  }

 private:
  void add(RunSummary summary) {
    const auto fields = run_fields(summary.run);
    const std::string value = value_of(fields, result_.field);
    const std::string rest = rest_of(fields, result_.field);
    if (std::find(result_.values.begin(), result_.values.end(), value) == result_.values.end())
      result_.values.push_back(value);
    auto cell = std::find_if(cells_.begin(), cells_.end(),
                             [&](const Cell& c) { return c.rest == rest && c.value == value; });
    if (cell == cells_.end()) cell = cells_.insert(cells_.end(), Cell{rest, value, {}});
    cell->runs.push_back(std::move(summary));
  }

  static void sort_numbers(std::vector<std::string>& values) {
    const auto number = [](const std::string& text, double& value) {
      const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
      return error == std::errc() && end == text.data() + text.size();
    };
    double ignored = 0;
    if (!std::all_of(values.begin(), values.end(), [&](const auto& text) { return number(text, ignored); }))
      return;
    std::sort(values.begin(), values.end(), [&](const auto& a, const auto& b) {
      double left = 0, right = 0;
      number(a, left);
      number(b, right);
      return left < right;
    });
  }

  std::size_t rank_of(const std::string& value) const {
    return static_cast<std::size_t>(std::find(result_.values.begin(), result_.values.end(), value) -
                                    result_.values.begin());
  }

  std::tuple<std::string, int, int, std::size_t> order(const Cell& cell) const {
    const RunCase& run_case = cell.runs.front().run.run_case;
    return {rest_without_size(run_case, result_.field), run_case.world_size(), run_case.nodes,
            rank_of(cell.value)};
  }

  const Cell* reference_of(const Cell& cell) const {
    const auto found = std::find_if(cells_.begin(), cells_.end(), [&](const Cell& other) {
      return other.rest == cell.rest && other.value == result_.values.front();
    });
    return found == cells_.end() ? nullptr : &*found;
  }

  void add_row(const Cell& cell) {
    GroupRow row;
    row.run_case = cell.runs.front().run.run_case;
    row.world_size = row.run_case.world_size();
    row.value = cell.value;
    row.samples_per_s = *geometric_mean(rates(cell), "");
    row.step_time_ns = static_cast<double>(row.run_case.global_batch()) * 1e9 / row.samples_per_s;
    const auto count = static_cast<double>(cell.runs.size());
    double exposed_ns = 0;
    for (const RunSummary& summary : cell.runs) {
      row.runs.push_back(summary.run.id);
      row.provenance = ProvenanceSet::from_bits(row.provenance.bits() | summary.run.provenance.bits());
      exposed_ns += static_cast<double>(summary.exposed_communication_ns) / count;
      const std::int64_t total_ns = summary.partition.total_ns();
      if (total_ns > 0)
        row.exposed_share +=
            static_cast<double>(summary.exposed_communication_ns) / static_cast<double>(total_ns) / count;
    }
    row.exposed_ns = static_cast<std::int64_t>(exposed_ns);
    if (cell.value != result_.values.front()) {
      const Cell* reference = reference_of(cell);
      row.against_reference =
          reference == nullptr
              ? Measured<RunRatio>::missing(fmt::format("not run with {}", result_.values.front()))
              : measured_ratio(rates(cell), rates(*reference));
    }
    result_.rows.push_back(std::move(row));
  }

  Measured<double> efficiency_of(const GroupRow& row) const {
    const std::string rest = rest_without_size(row.run_case, result_.field);
    const GroupRow* smallest = nullptr;
    for (const GroupRow& other : result_.rows) {
      if (other.value != row.value || rest_without_size(other.run_case, result_.field) != rest) continue;
      if (smallest == nullptr || other.world_size < smallest->world_size) smallest = &other;
    }
    if (smallest == nullptr || smallest == &row) return Measured<double>::missing("the smallest size");
    return row.samples_per_s / row.world_size / (smallest->samples_per_s / smallest->world_size);
  }

  struct Times {
    std::vector<double> transfer_ns;
    std::vector<double> busbw;
  };
  using KindOfCollective = std::tuple<std::string, int, std::uint64_t>;  // function, ranks, bytes

  /// By kind, then the place of the value.
  std::map<KindOfCollective, std::map<std::size_t, Times>> times_of_collectives() const {
    std::map<KindOfCollective, std::map<std::size_t, Times>> all;
    for (const Cell& cell : cells_) {
      for (const RunSummary& summary : cell.runs) {
        for (const CollectiveSummary& collective : summary.collectives) {
          const store::CollectiveRecord& record = collective.record;
          if (record.transfer_ns <= 0) continue;
          const KindOfCollective kind{record.function, summary.run.run_case.world_size(), record.bytes};
          Times& times = all[kind][rank_of(cell.value)];
          times.transfer_ns.push_back(static_cast<double>(record.transfer_ns));
          if (collective.busbw_gb_per_s) times.busbw.push_back(*collective.busbw_gb_per_s);
        }
      }
    }
    return all;
  }

  void add_collectives() {
    for (const auto& [kind, by_value] : times_of_collectives()) {
      for (const auto& [place, times] : by_value) {
        GroupCollective row;
        std::tie(row.function, row.ranks, row.bytes) = kind;
        row.value = result_.values[place];
        row.transfer_ns = *geometric_mean(times.transfer_ns, "");
        row.busbw_gb_per_s = geometric_mean(times.busbw, "no bus factor");
        if (place != 0) {
          const auto reference = by_value.find(0);
          row.against_reference =
              reference == by_value.end()
                  ? Measured<RunRatio>::missing("not measured with " + result_.values.front())
                  : measured_ratio(times.transfer_ns, reference->second.transfer_ns);
        }
        result_.collectives.push_back(std::move(row));
      }
    }
  }

  void add_fits() {
    std::map<std::tuple<std::string, int, std::size_t>, std::vector<TimedSize>> sizes;
    for (const auto& [kind, by_value] : times_of_collectives()) {
      const auto& [function, ranks, bytes] = kind;
      for (const auto& [place, times] : by_value) {
        if (bytes > 0 && ranks > 1) {
          sizes[{function, ranks, place}].push_back({"", static_cast<double>(bytes), times.transfer_ns});
        }
      }
    }
    for (const auto& [key, points] : sizes) {
      const auto& [function, ranks, place] = key;
      for (AlphaBetaFit& fit : fit_alpha_beta(points, ranks)) {
        if (!fit.regimes.empty())
          result_.fits.push_back({function, ranks, result_.values[place], std::move(fit)});
      }
    }
  }

  void add_notes() {
    if (result_.values.size() < 2) {
      result_.notes.push_back(fmt::format("all runs have {} {}: there is nothing to compare", result_.field,
                                          result_.values.front().empty() ? "\"\"" : result_.values.front()));
    } else if (std::none_of(result_.rows.begin(), result_.rows.end(),
                            [](const GroupRow& row) { return bool(row.against_reference); })) {
      result_.notes.push_back(
          fmt::format("no case was run with {} and with another {}: ratios need equal cases",
                      result_.values.front(), result_.field));
    }
    std::set<std::uint32_t> provenances;
    for (const GroupRow& row : result_.rows) provenances.insert(row.provenance.bits());
    if (provenances.size() > 1) result_.notes.push_back("provenances are mixed: see the column of each row");
    if (result_.field == "network" &&
        std::find(result_.values.begin(), result_.values.end(), kNotProved) != result_.values.end()) {
      result_.notes.push_back(
          "runs whose transport was not proved are marked \"not proved\", whatever was asked for");
    }
  }

  GroupComparison& result_;
  std::vector<Cell> cells_;
};

}  // namespace

GroupComparison compare_by(const store::RunStore& store, std::span<const store::RunRecord> runs,
                           const std::string& field, const std::string& reference) {
  if (!is_run_field(field)) {
    std::vector<std::string> names;
    for (const auto& [name, ignored] : known_run_fields())
      names.push_back(name.ends_with('.') ? name + "KEY" : name);
    throw Error(ErrorCode::kBadInput, fmt::format("runs cannot be compared by \"{}\": they have {}", field,
                                                  fmt::join(names, ", ")));
  }
  GroupComparison result;
  result.field = field;
  Grouping grouping(store, runs, result);
  grouping.put_first(reference);
  grouping.build();
  return result;
}

}  // namespace ddbench::analyzer
