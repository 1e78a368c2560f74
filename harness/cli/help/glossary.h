#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace ddbench::cli {

struct Term {
  std::vector<std::string> names;  ///< the first is the usual one
  std::string meaning;
  std::string section;  ///< heading in docs/metrics.md
};

/// The table below "## Terms" of a text like docs/metrics.md. Throws Error{kRunFailed} where a row has not
/// three cells or names a section that the text lacks: the text is part of the executable.
std::vector<Term> terms_of(std::string_view metrics);

/// The term with this name (ignoring case; blanks and underscores are equal); null if there is none.
const Term* find_term(const std::vector<Term>& terms, std::string_view name);

/// The lines below a heading, up to the next one of its level; without marks of Markdown.
std::string section_of(std::string_view metrics, std::string_view heading);

/// docs/metrics.md at the time when ddbench was built.
std::string_view metrics_text();

}  // namespace ddbench::cli
