#pragma once

namespace ddbench::gui {

/// Writes so many runs into the store, a few a second, as `ddbench sweep` would. 0, or 1 and a message when
/// the store refused a write.
int write_runs(const char* store, int count);

}  // namespace ddbench::gui
