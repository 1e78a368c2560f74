#pragma once

#include <string>
#include <vector>

namespace ddbench::reports::svg {

struct Tick {
  double value = 0;
  std::string text;
};

/// A numeric axis: which values it spans, and where its ticks are.
struct ValueAxis {
  double low = 0;
  double high = 1;
  bool logarithmic = false;
  std::vector<Tick> ticks;

  /// 0 at `low`, 1 at `high`; values outside the axis give positions outside [0, 1].
  double position(double value) const;
};

/// The range and options that the axis must satisfy.
struct AxisDemand {
  double low = 0;
  double high = 0;  ///< finite, >= low; both positive when logarithmic
  bool logarithmic = false;
  bool from_zero = false;  ///< linear only: the axis includes 0
  int max_ticks = 6;
  std::string
      log_unit;  ///< stored unit ("ns", "B"): ticks of a logarithmic axis each carry a unit of their own
};

/// Ticks at 1, 2, 2.5 or 5 times a power of ten, with a little room at ends that are not ticks. A range of
/// zero length is widened.
ValueAxis make_axis(const AxisDemand& demand);

/// An axis with ticks at the values themselves: world sizes, batches. A little room at both ends.
ValueAxis axis_at_values(const std::vector<double>& sorted_values, bool logarithmic,
                         const std::string& log_unit);

}  // namespace ddbench::reports::svg
