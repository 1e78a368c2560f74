#pragma once

#include "gui/workspace/page.h"

namespace ddbench::gui {

QString page_title(PageId page);
/// Owned by whoever puts it into a layout.
Page* make_page(PageId page, Workspace& workspace);

}  // namespace ddbench::gui
