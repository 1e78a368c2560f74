#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/measured.h"
#include "core/provenance.h"

namespace ddbench::analyzer {

/// One axis: its quantity and unit ("GPUs", "1"; "step time", "ms").
struct Axis {
  std::string label;
  std::string unit;
  bool logarithmic = false;
};

struct Point {
  double x = 0;
  double y = 0;
  std::optional<ConfidenceInterval> interval;  ///< of y
  std::string label;                           ///< the category, where x counts categories
};

enum class SeriesShape { kLine, kPoints, kBars, kStackedBars, kWaterfall };

struct Series {
  std::string name;
  SeriesShape shape = SeriesShape::kLine;
  std::vector<Point> points;
  ProvenanceSet provenance;
};

/// A chart's content, drawn by the dashboard and by the reports: no Qt, no HTML.
struct Figure {
  std::string title;
  Axis x;
  Axis y;
  std::vector<Series> series;
  std::vector<std::string>
      notes;  ///< caveats a reader must see: mixed provenance, extrapolation, few repetitions
};

}  // namespace ddbench::analyzer
