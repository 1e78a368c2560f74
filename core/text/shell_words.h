#pragma once

#include <string>
#include <vector>

namespace ddbench {

/// The command as one would type it: a shell splits the text into `words` again. Words that need it are
/// quoted.
std::string shell_words(const std::vector<std::string>& words);

}  // namespace ddbench
