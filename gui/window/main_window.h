#pragma once

#include <QMainWindow>
#include <QSettings>
#include <array>
#include <filesystem>

#include "gui/charts/theme.h"
#include "gui/models/store_watch.h"
#include "gui/workspace/page.h"

class QPushButton;
class QStackedWidget;
class QToolButton;
class QVBoxLayout;

namespace ddbench::gui {

class StartPage;
class StatusBar;

struct WindowOptions {
  std::filesystem::path store;
  QSettings* settings = nullptr;  ///< where window state is stored; null: not stored
};

/// The dashboard: pages at the left, the activity of the store's jobs below. Reads the list of runs again
/// whenever the store was written.
class MainWindow : public QMainWindow {
 public:
  explicit MainWindow(WindowOptions options);
  ~MainWindow() override;

  void open_store(std::filesystem::path file);
  void open_page(PageId page);
  PageId page_id() const noexcept { return page_; }
  Page& page(PageId page) { return *pages_[static_cast<std::size_t>(page)]; }
  Workspace& workspace() noexcept { return workspace_; }
  bool shows_start_page() const;
  const StartPage& start_page() const { return *start_; }
  /// Nothing is loading, and all that was loaded is shown.
  bool is_settled() const noexcept { return jobs_.is_idle() && !listing_ && !list_again_; }

  void set_theme_choice(ThemeChoice choice);

 protected:
  bool event(QEvent* event) override;
  void closeEvent(QCloseEvent* event) override;
  void changeEvent(QEvent* event) override;

 private:
  void make_pages();
  QWidget* make_rail();
  void make_shortcuts();
  void list_again();
  void read_list();
  void show_reading();
  void cancel();
  void take_list(RunList list, bool complete, int unreadable);
  void list_failed(const JobFailure& failure);
  void refresh_pages();
  void ask_for_store();
  void next_theme();

  StoreJobs jobs_;
  Workspace workspace_;
  StoreWatch watch_;
  QSettings* settings_;
  ThemeChoice theme_choice_ = ThemeChoice::kSystem;
  bool listing_ = false;
  bool list_again_ = false;
  PageId page_ = PageId::kOverview;

  QStackedWidget* stack_ = nullptr;
  StartPage* start_ = nullptr;
  std::array<Page*, kPageCount> pages_{};
  std::array<QPushButton*, kPageCount> rail_{};
  StatusBar* status_ = nullptr;
  QToolButton* theme_button_ = nullptr;
};

}  // namespace ddbench::gui
