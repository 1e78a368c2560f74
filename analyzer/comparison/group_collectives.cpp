#include "analyzer/comparison/group_collectives.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "analyzer/run/usable_runs.h"

namespace ddbench::analyzer {
namespace {

struct Times {
  std::vector<double> transfer_ns;
  std::vector<double> busbw;
  ProvenanceSet provenance;  ///< of all runs
};
using KindOfCollective = std::tuple<std::string, int, std::uint64_t>;  // function, ranks, bytes
/// By kind, then the place of the value.
using TimesByKind = std::map<KindOfCollective, std::map<std::size_t, Times>>;

TimesByKind times_by_kind(const std::vector<GroupCell>& cells, const std::vector<std::string>& values) {
  TimesByKind all;
  for (const GroupCell& cell : cells) {
    const int ranks = cell.run_case().world_size();
    const auto place =
        static_cast<std::size_t>(std::find(values.begin(), values.end(), cell.value) - values.begin());
    for (const RunSummary& summary : cell.runs) {
      for (const CollectiveSummary& collective : summary.collectives) {
        const store::CollectiveRecord& record = collective.record;
        if (record.transfer_ns <= 0 || ranks < 2) continue;
        Times& times = all[{record.function, ranks, record.bytes}][place];
        times.provenance = ProvenanceSet::from_bits(times.provenance.bits() | summary.run.provenance.bits());
        times.transfer_ns.push_back(static_cast<double>(record.transfer_ns));
        if (collective.busbw_gb_per_s) times.busbw.push_back(*collective.busbw_gb_per_s);
      }
    }
  }
  return all;
}

void add_rows(const TimesByKind& all, GroupComparison& result) {
  for (const auto& [kind, by_value] : all) {
    for (const auto& [place, times] : by_value) {
      GroupCollective row;
      std::tie(row.function, row.ranks, row.bytes) = kind;
      row.value = result.values[place];
      row.provenance = times.provenance;
      row.transfer_ns = *geometric_mean(times.transfer_ns, "");
      row.busbw_gb_per_s = geometric_mean(times.busbw, "no bus factor");
      if (place != 0) {
        const auto reference = by_value.find(0);
        row.against_reference =
            reference == by_value.end()
                ? Measured<RunRatio>::missing("not measured with " + result.values.front())
                : measured_ratio(times.transfer_ns, reference->second.transfer_ns);
      }
      result.collectives.push_back(std::move(row));
    }
  }
}

void add_fits(const TimesByKind& all, GroupComparison& result) {
  std::map<std::tuple<std::string, int, std::size_t>, std::vector<TimedSize>> sizes;
  for (const auto& [kind, by_value] : all) {
    const auto& [function, ranks, bytes] = kind;
    for (const auto& [place, times] : by_value) {
      if (bytes > 0)
        sizes[{function, ranks, place}].push_back({"", static_cast<double>(bytes), times.transfer_ns});
    }
  }
  for (const auto& [key, points] : sizes) {
    const auto& [function, ranks, place] = key;
    for (AlphaBetaFit& fit : fit_alpha_beta(points, ranks)) {
      if (!fit.regimes.empty())
        result.fits.push_back({function, ranks, result.values[place], std::move(fit)});
    }
  }
}

}  // namespace

void add_group_collectives(const std::vector<GroupCell>& cells, GroupComparison& result) {
  const TimesByKind all = times_by_kind(cells, result.values);
  add_rows(all, result);
  add_fits(all, result);
}

}  // namespace ddbench::analyzer
