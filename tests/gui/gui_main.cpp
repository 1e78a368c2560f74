#include <gtest/gtest.h>

#include <QApplication>
#include <cstring>

#include "gui/charts/theme.h"
#include "live_writer.h"

/// As `gui_test --write-runs STORE COUNT` it is the second process of the live test.
int main(int argc, char** argv) {
  if (argc == 4 && std::strcmp(argv[1], "--write-runs") == 0)
    return ddbench::gui::write_runs(argv[2], std::atoi(argv[3]));
  if (qEnvironmentVariableIsEmpty("QT_QPA_PLATFORM")) qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  ddbench::gui::set_theme(false);
  testing::InitGoogleTest(&argc, argv);
  return RUN_ALL_TESTS();
}
