#include <QApplication>
#include <QCommandLineParser>
#include <cstdio>
#include <cstdlib>

#include "analyzer/store/rows/run_store.h"
#include "core/error.h"
#include "gui/window/main_window.h"
#include "gui/window/screenshots.h"

namespace {

using namespace ddbench;

struct Arguments {
  std::filesystem::path store;
  QString screenshots;
};

Arguments parse(const QCoreApplication& app) {
  QCommandLineParser parser;
  parser.setApplicationDescription(QStringLiteral(
      "The dashboard of ddbench: speedup, where the time went, networks, SKUs and regressions."));
  parser.addHelpOption();
  const QCommandLineOption version({QStringLiteral("v"), QStringLiteral("version")},
                                   QStringLiteral("Version and licence"));
  parser.addOption(version);
  const QCommandLineOption db(
      QStringLiteral("db"),
      QStringLiteral("Store (default: $DDBENCH_DB or ~/.local/share/ddbench/results.db)"),
      QStringLiteral("FILE"));
  const QCommandLineOption screenshot(
      QStringLiteral("screenshot"),
      QStringLiteral(
          "Save screenshots of every page (light and dark, 1280x800 and 2560x1440) to DIR and exit"),
      QStringLiteral("DIR"));
  parser.addOption(db);
  parser.addOption(screenshot);
  if (!parser.parse(app.arguments())) {
    throw Error(ErrorCode::kBadInput, parser.errorText().toStdString() + "\nTry: ddbench gui --help");
  }
  if (parser.isSet(QStringLiteral("help"))) parser.showHelp(0);
  if (parser.isSet(version)) {
    std::puts(
        "ddbench-gui " DDBENCH_VERSION
        "\nThis executable links Qt Charts and is distributed under GPL-3.0; ddbench itself is Apache-2.0.");
    std::exit(0);
  }
  if (!parser.positionalArguments().isEmpty()) {
    throw Error(ErrorCode::kBadInput, "unknown argument \"" +
                                          parser.positionalArguments().front().toStdString() +
                                          "\"; a store is given with --db");
  }
  Arguments arguments;
  arguments.store =
      parser.isSet(db) ? std::filesystem::path(parser.value(db).toStdString()) : store::default_path();
  arguments.screenshots = parser.value(screenshot);
  return arguments;
}

/// Without a screen, Qt would abort the process with a core file.
void require_screen() {
  for (const char* name : {"DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"}) {
    if (!qEnvironmentVariableIsEmpty(name)) return;
  }
  throw Error(
      ErrorCode::kEnvironment,
      "there is no screen to open a window on (DISPLAY and WAYLAND_DISPLAY are not set): log in with ssh -X, "
      "draw the pages with --screenshot DIR, or write them with `ddbench report`");
}

int show(QApplication& app, const Arguments& arguments) {
  QSettings settings(QStringLiteral("ddbench"), QStringLiteral("gui"));
  gui::MainWindow window({arguments.store, &settings});
  window.show();
  return app.exec();
}

}  // namespace

int main(int argc, char** argv) {
  QCoreApplication::setApplicationName(QStringLiteral("ddbench gui"));
  try {
    const Arguments arguments = parse(QCoreApplication(argc, argv));
    const bool draw_only = !arguments.screenshots.isEmpty();
    if (draw_only) {
      qputenv("QT_QPA_PLATFORM", "offscreen");
    } else {
      require_screen();
    }
    QApplication app(argc, argv);
    if (draw_only) {
      gui::make_screenshots(arguments.store, arguments.screenshots.toStdString());
      return 0;
    }
    return show(app, arguments);
  } catch (const Error& error) {
    std::fprintf(stderr, "ddbench gui: %s\n", error.message().c_str());
    return error.exit_code();
  }
}
