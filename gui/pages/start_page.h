#pragma once

#include <QProcess>
#include <QWidget>
#include <functional>

#include "gui/models/store_jobs.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace ddbench::gui {

/// Shown when there are no results: no store, no runs, or a store that cannot be read. Explains how to make a
/// run, and can start a small one.
class StartPage : public QWidget {
 public:
  StartPage();
  ~StartPage() override;  ///< stops a demo that still runs

  /// Null failure: the store is empty or does not exist yet.
  void show_state(const std::filesystem::path& store, const JobFailure* failure);
  QString text() const;

  std::function<void()> open_other;
  std::function<void()> try_again;

 private:
  void run_demo();
  void show_demo_output();

  std::filesystem::path store_;
  QLabel* title_;
  QLabel* text_;
  QLabel* commands_;
  QPushButton* demo_;
  QPushButton* open_;
  QPushButton* again_;
  QLabel* progress_;
  QProcess process_;
};

}  // namespace ddbench::gui
