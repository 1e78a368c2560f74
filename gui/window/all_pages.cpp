#include "gui/window/all_pages.h"

#include "gui/pages/batch_page.h"
#include "gui/pages/breakdown_page.h"
#include "gui/pages/collectives_page.h"
#include "gui/pages/cost_page.h"
#include "gui/pages/network_page.h"
#include "gui/pages/overview_page.h"
#include "gui/pages/regressions_page.h"
#include "gui/pages/speedup_page.h"
#include "gui/pages/timeline_page.h"
#include "gui/pages/what_if_page.h"

namespace ddbench::gui {

QString page_title(PageId page) {
  static constexpr const char* kTitles[kPageCount] = {"Overview",    "Speedup", "Breakdown",  "Timeline",
                                                      "Collectives", "Network", "Batch & LR", "SKU & cost",
                                                      "Regressions", "What if"};
  return QString::fromLatin1(kTitles[static_cast<int>(page)]);
}

Page* make_page(PageId page, Workspace& workspace) {
  switch (page) {
    case PageId::kOverview: return new OverviewPage(workspace);
    case PageId::kSpeedup: return new SpeedupPage(workspace);
    case PageId::kBreakdown: return new BreakdownPage(workspace);
    case PageId::kTimeline: return new TimelinePage(workspace);
    case PageId::kCollectives: return new CollectivesPage(workspace);
    case PageId::kNetwork: return new NetworkPage(workspace);
    case PageId::kBatch: return new BatchPage(workspace);
    case PageId::kCost: return new CostPage(workspace);
    case PageId::kRegressions: return new RegressionsPage(workspace);
    case PageId::kWhatIf: return new WhatIfPage(workspace);
  }
  return nullptr;
}

}  // namespace ddbench::gui
