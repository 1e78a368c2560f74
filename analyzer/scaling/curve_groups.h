#pragma once

#include <span>
#include <string>
#include <vector>

#include "analyzer/figure/figure.h"
#include "analyzer/run/run_fields.h"
#include "analyzer/scaling/scaling_curve.h"

namespace ddbench::analyzer {

/// One scaling curve among others.
struct CurveGroup {
  std::string label;  ///< the values that set it apart ("link 1gbit, strong"); empty when there is one group
  ScalingCurve curve;
};

struct CurveGroups {
  std::vector<CurveGroup> groups;  ///< as the runs first come
  std::vector<std::string> notes;  ///< groups that are no curve, with the reason; caveats of the curves
};

/// Splits runs into scaling curves: by weak or strong scaling, by workload, and by every field of `fields`
/// (names that --where accepts: "link", "sku", "strategy", "batch_per_gpu", ...). A run belongs to the curves
/// of all values of a field that does not apply to it: runs on one node belong to the curves of all links. A
/// group that is not a curve (scaling_curve throws) is left out with a note. Throws Error{kBadInput} on an
/// unknown field, and when no group is a curve: the message states the reason for each.
CurveGroups curve_groups(const store::RunStore& store, std::span<const store::RunRecord> runs,
                         const std::vector<std::string>& fields, const CurveOptions& options = {});

/// The fields in which these runs differ, without `varied`, workload and scaling. With the default, each group of curve_groups
/// by these fields is one curve.
std::vector<std::string> varied_fields(std::span<const store::RunRecord> runs, const VariedFields& varied = kWithinCurve);

/// speedup_figure and efficiency_figure of all groups in one: the ideal once, for each group its points and
/// its fitted law. One group: the figure of that curve.
Figure speedup_figure(const CurveGroups& groups);
Figure efficiency_figure(const CurveGroups& groups);

}  // namespace ddbench::analyzer
