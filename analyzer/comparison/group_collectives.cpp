#include "analyzer/comparison/group_collectives.h"

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/comparison/collective_world.h"
#include "analyzer/run/usable_runs.h"

namespace ddbench::analyzer {
namespace {

struct Times {
  std::vector<double> transfer_ns;  ///< one a run
  std::vector<double> busbw;
  ProvenanceSet provenance;  ///< of all runs
};
struct KindOfCollective {
  CollectiveWorld world;  ///< without the field that is compared
  std::uint64_t bytes = 0;
  friend auto operator<=>(const KindOfCollective&, const KindOfCollective&) = default;
};
/// By kind, then the place of the value.
using TimesByKind = std::map<KindOfCollective, std::map<std::size_t, Times>>;
using VariantOfWorld = std::map<CollectiveWorld, std::string>;

TimesByKind times_by_kind(const std::vector<GroupCell>& cells, const GroupComparison& result) {
  TimesByKind all;
  for (const GroupCell& cell : cells) {
    const auto place = static_cast<std::size_t>(
        std::find(result.values.begin(), result.values.end(), cell.value) - result.values.begin());
    for (const RunSummary& summary : cell.runs) {
      if (cell.run_case().world_size() < 2) continue;
      for (const SizedTransfer& transfer : sized_transfers(summary)) {
        Times& times = all[{without_field(transfer.world, result.field), transfer.bytes}][place];
        times.provenance = ProvenanceSet::from_bits(times.provenance.bits() | summary.run.provenance.bits());
        times.transfer_ns.push_back(transfer.transfer_ns);
        if (transfer.busbw_gb_per_s) times.busbw.push_back(*transfer.busbw_gb_per_s);
      }
    }
  }
  return all;
}

VariantOfWorld variants_of(const TimesByKind& all) {
  std::vector<CollectiveWorld> worlds;
  for (const auto& [kind, by_value] : all) {
    if (worlds.empty() || worlds.back() != kind.world) worlds.push_back(kind.world);
  }
  const std::vector<std::string> texts = variants_of_worlds(worlds);
  VariantOfWorld variants;
  for (std::size_t i = 0; i < worlds.size(); ++i) variants[worlds[i]] = texts[i];
  return variants;
}

void add_rows(const TimesByKind& all, const VariantOfWorld& variants, GroupComparison& result) {
  for (const auto& [kind, by_value] : all) {
    for (const auto& [place, times] : by_value) {
      GroupCollective row;
      row.function = kind.world.function;
      row.ranks = kind.world.ranks;
      row.variant = variants.at(kind.world);
      row.bytes = kind.bytes;
      row.value = result.values[place];
      row.provenance = times.provenance;
      row.transfer_ns = *geometric_mean(times.transfer_ns, "");
      row.busbw_gb_per_s = geometric_mean(
          times.busbw, row.ranks == 0 ? "the size of the communicator is not known" : "no bus factor");
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

void add_fits(const TimesByKind& all, const VariantOfWorld& variants, GroupComparison& result) {
  std::map<std::pair<CollectiveWorld, std::size_t>, std::vector<TimedSize>> sizes;
  for (const auto& [kind, by_value] : all) {
    if (kind.bytes == 0 || kind.world.ranks < 2) continue;
    for (const auto& [place, times] : by_value)
      sizes[{kind.world, place}].push_back({"", static_cast<double>(kind.bytes), times.transfer_ns});
  }
  for (const auto& [key, points] : sizes) {
    const auto& [world, place] = key;
    for (AlphaBetaFit& fit : fit_alpha_beta(points, world.ranks)) {
      if (!fit.regimes.empty())
        result.fits.push_back({world.function, world.ranks, result.values[place], std::move(fit), variants.at(world)});
    }
  }
}

}  // namespace

void add_group_collectives(const std::vector<GroupCell>& cells, GroupComparison& result) {
  const TimesByKind all = times_by_kind(cells, result);
  const VariantOfWorld variants = variants_of(all);
  add_rows(all, variants, result);
  add_fits(all, variants, result);
}

}  // namespace ddbench::analyzer
