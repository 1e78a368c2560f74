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
  /// It is not known yet what the store holds: nothing is offered but to open another.
  void show_reading(const std::filesystem::path& store);
  void show_cancelled(const std::filesystem::path& store);
  QString text() const;

  QString program;  ///< that runs the small demo: the ddbench beside this program
  std::function<void()> open_other;
  std::function<void()> try_again;

 private:
  void show_words(const std::filesystem::path& store, const QString& title, const QString& text);
  void show_offers(bool to_make_runs, bool to_try_again);
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
