#pragma once

#include <string>
#include <vector>

#include "analyzer/scaling/scaling.h"

namespace ddbench::analyzer {

/// Rows that one curve may join: they differ in their size only.
struct RowSeries {
  std::string name;     ///< how it differs ("100mbit, batch 64"); its provenance if nothing differs
  std::string variant;  ///< the same without shape and provenance; may be empty
  ProvenanceSet provenance;
  std::vector<const ScalingRow*> rows;  ///< of the table, in its order; no two of one world size
};

/// Splits the table by provenance and by each field of the case that varies beside the size; where one size
/// was run in several shapes (1 x 4 and 2 x 2), by GPUs per node as well.
std::vector<RowSeries> series_of_rows(const ScalingTable& table);

/// "weak scaling"; "scaling" where the batch of `first`, the first case, is not known, and so neither is what stays fixed.
std::string kind_of_scaling(ScalingMode mode, const RunCase& first);
std::string kind_of_scaling(const ScalingTable& table);
/// "Speedup (weak scaling)", "Speedup" where that is not known.
std::string with_kind_of_scaling(const std::string& title, const ScalingTable& table);

std::string in_words(ProvenanceSet provenance);  ///< "measured, oversubscribed"

}  // namespace ddbench::analyzer
