#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <sstream>

#include "core/error.h"
#include "core/text/nearest.h"
#include "harness/cli/help/glossary.h"
#include "harness/cli/options/command.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/shared_options.h"
#include "reports/formats/terminal/layout/cell_width.h"
#include "reports/formats/terminal/layout/paint.h"

namespace ddbench::cli {
namespace {

std::string list_of(const std::vector<Term>& terms) {
  const reports::TextStyle style = stdout_style();
  const reports::Paint paint(style.color);
  std::string text;
  for (const Term& term : terms) {
    text += paint(reports::Tone::kStrong, fmt::format("{}", fmt::join(term.names, ", "))) + "\n";
    for (const std::string& line : reports::wrapped(term.meaning, static_cast<std::size_t>(style.width) - 2))
      text += "  " + line + "\n";
  }
  return text;
}

/// Paragraphs in lines of the terminal's width; tables and formulas as they are.
std::string in_width(const std::string& text, std::size_t width) {
  std::string result;
  std::string paragraph;
  const auto end_paragraph = [&] {
    for (const std::string& line : reports::wrapped(paragraph, width)) result += line + "\n";
    paragraph.clear();
  };
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const bool stands_alone = line.empty() || line.starts_with("    ") || line.starts_with('|');
    if (stands_alone || line.starts_with("- ")) end_paragraph();
    if (stands_alone) {
      result += line + "\n";
    } else {
      paragraph += (paragraph.empty() ? "" : " ") + line;
    }
  }
  end_paragraph();
  return result;
}

[[noreturn]] void unknown_term(const std::vector<Term>& terms, const std::string& name) {
  std::vector<std::string> names;
  for (const Term& term : terms) names.insert(names.end(), term.names.begin(), term.names.end());
  const std::string meant = nearest(name, names);
  throw Error(ErrorCode::kBadInput,
              fmt::format("there is no entry \"{}\"{}; `ddbench explain` lists all", name,
                          meant.empty() ? "" : fmt::format("; did you mean \"{}\"?", meant)));
}

int explain(const std::vector<std::string>& words) {
  const std::vector<Term> terms = terms_of(metrics_text());
  const std::string name = fmt::format("{}", fmt::join(words, " "));
  if (name.empty()) {
    print(list_of(terms));
    return 0;
  }
  const Term* term = find_term(terms, name);
  if (term == nullptr) unknown_term(terms, name);
  const reports::Paint paint(stdout_style().color);
  print(list_of({*term}) + "\n" + paint(reports::Tone::kStrong, term->section) + "\n" +
        in_width(section_of(metrics_text(), term->section), static_cast<std::size_t>(stdout_style().width)));
  return 0;
}

}  // namespace

void add_explain_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("explain", "What a term or a metric means and how it is computed");
  const auto words = std::make_shared<std::vector<std::string>>();
  command->add_option("term", *words, "a metric or a part of a step; without one, all terms are listed");
  add_examples(*command,
               {{"explain", "all terms"},
                {"explain exposed transfer", "one of them, and the section of docs/metrics.md about it"},
                {"explain busbw", "the same, by a short name"}});
  command->callback([&action, words] { action = [words] { return explain(*words); }; });
}

}  // namespace ddbench::cli
