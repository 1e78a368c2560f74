#pragma once

#include <map>
#include <string>
#include <vector>

namespace ddbench::experiment {

/// Notes for people are facts of a run: "note.1", "note.2", ... in the order in which they are shown.
inline void add_notes(const std::vector<std::string>& notes, std::map<std::string, std::string>& facts) {
  for (std::size_t i = 0; i < notes.size(); ++i) facts["note." + std::to_string(i + 1)] = notes[i];
}

}  // namespace ddbench::experiment
