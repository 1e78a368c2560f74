#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <string>
#include <vector>

#include "core/facts/facts.h"
#include "probes/recorder/spool.h"

namespace ddbench::experiment {

/// Notes for people are facts of a run: "note.1", "note.2", ... in the order in which they are shown. They
/// are added behind those that are there.
inline void add_notes(const std::vector<std::string>& notes, Facts& facts) {
  int next = 1;
  for (const std::string& note : notes) {
    while (has_fact(facts, fact_key_of<"note.*">(next))) ++next;
    set_fact(facts, fact_key_of<"note.*">(next), note);
  }
}

/// Of what the spool's reader left out; the batch is the last one that it gave.
inline std::string invalid_note(int rank, const std::filesystem::path& file, const host::SpoolBatch& batch) {
  return fmt::format("rank {}: {} impossible values in the spool {} were left out; the first is {}", rank,
                     batch.invalid, file.filename().string(), batch.first_invalid);
}

}  // namespace ddbench::experiment
