#pragma once

#include <QFrame>
#include <functional>

#include "gui/models/store_jobs.h"

class QLabel;
class QProgressBar;
class QPushButton;

namespace ddbench::gui {

/// Below the pages: the store and its runs, the actions available at the pointer, and what is loading.
class StatusBar : public QFrame {
 public:
  explicit StatusBar(QWidget* parent = nullptr);

  void show_store(const QString& text);
  /// Empty text: no hint.
  void show_hint(const QString& text);
  void show_activity(const JobActivity& activity);

  std::function<void()> on_cancel;

 private:
  QLabel* store_;
  QLabel* hint_;
  QProgressBar* progress_;
  QPushButton* cancel_;
};

}  // namespace ddbench::gui
