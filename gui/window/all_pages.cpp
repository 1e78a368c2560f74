#include "window/all_pages.h"

#include "pages/overview_page.h"

namespace ddbench::gui {

QString page_title(PageId page) {
  static constexpr const char* kTitles[kPageCount] = {"Overview"};
  return QString::fromLatin1(kTitles[static_cast<int>(page)]);
}

Page* make_page(PageId page, Workspace& workspace) {
  switch (page) {
    case PageId::kOverview: return new OverviewPage(workspace);
  }
  return nullptr;
}

}  // namespace ddbench::gui
