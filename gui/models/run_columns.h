#pragma once

#include <QString>
#include <QVariant>
#include <vector>

#include "gui/models/run_list.h"

namespace ddbench::gui {

/// In the order in which they are shown: what matters most comes first.
enum class RunColumn {
  kStarted,
  kName,
  kWorkload,
  kSize,
  kBatch,
  kEfficiency,
  kThroughput,
  kStepTime,
  kState,
  kNetwork,
  kSku,
  kPrecision,
  kStrategy,
  kProvenance,
  kSource,
};
inline constexpr int kRunColumnCount = 15;

QString title_of(RunColumn column);
bool is_number(RunColumn column);
/// The cell's text; "–" if there is no value.
QString text_of(const RunEntry& entry, RunColumn column);
/// The value to sort rows by; invalid for missing values.
QVariant sort_key_of(const RunEntry& entry, RunColumn column);
/// The whole story: why a value is missing, why a run failed.
QString tip_of(const RunEntry& entry, RunColumn column);
/// Columns that make sense to filter and group by.
const std::vector<RunColumn>& grouping_columns();

}  // namespace ddbench::gui
