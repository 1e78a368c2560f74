#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/figure/figure.h"
#include "reports/formats/html/html.h"
#include "reports/tables/data_table.h"
#include "reports/tables/run_content.h"

namespace ddbench::reports::html {

/// Writes one page from top to bottom. Callers pass unescaped text; it is escaped here.
class Page {
 public:
  /// Head, style, and the page's own heading. `links` must outlive the page.
  Page(std::string_view kind, std::string_view title, std::string_view subtitle, const PageLinks* links = nullptr);

  /// Links above the heading; nothing on a page without `links`. `page` is beside the root: "run/4f3a".
  struct Link {
    std::string text;
    std::string page;
  };
  void navigation(const std::vector<Link>& pages);
  /// Leads to `page`, with the fields as its query.
  void form(std::string_view page, std::string_view button, const std::vector<FormField>& fields);
  void badges(const std::vector<std::string>& badges);
  void alarms(const std::vector<std::string>& alarms);
  void verdict(std::string_view sentence);
  void tiles(const std::vector<Tile>& tiles);
  void notes(const std::vector<std::string>& notes);
  void figures(const std::vector<analyzer::Figure>& figures);
  void table(const DataTable& table);
  /// Folded until the reader opens it.
  void folded_table(const DataTable& table);
  void heading(std::string_view text);

  /// Ends the page; call nothing afterwards.
  std::string finish();

 private:
  void figure(const analyzer::Figure& figure);
  void figure_values(const analyzer::Figure& figure);

  const PageLinks* links_;
  std::string markup_;
  int figures_ = 0;
};

}  // namespace ddbench::reports::html
