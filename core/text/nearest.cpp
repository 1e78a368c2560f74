#include "core/text/nearest.h"

#include <algorithm>
#include <numeric>

namespace ddbench {
namespace {

std::size_t typing_errors(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> errors(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) errors[i][0] = i;
  std::iota(errors[0].begin(), errors[0].end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      errors[i][j] = std::min({errors[i - 1][j] + 1, errors[i][j - 1] + 1,
                               errors[i - 1][j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        errors[i][j] = std::min(errors[i][j], errors[i - 2][j - 2] + 1);
    }
  }
  return errors[a.size()][b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  std::size_t fewest = word.size() / 3 + 1;
  for (const std::string& candidate : candidates) {
    const bool begins = word.size() >= 2 && candidate.starts_with(word);
    const std::size_t longer =
        std::max(word.size(), candidate.size()) - std::min(word.size(), candidate.size());
    if (!begins && longer > fewest) continue;  // at least as many errors; words of users may be long
    const std::size_t errors = begins ? 1 : typing_errors(word, candidate);
    if (errors < fewest || (errors == fewest && best.empty())) {
      fewest = errors;
      best = candidate;
    }
  }
  return best;
}

}  // namespace ddbench
