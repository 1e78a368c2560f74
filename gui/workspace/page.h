#pragma once

#include <QWidget>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "gui/workspace/workspace.h"

class QComboBox;
class QFrame;
class QLabel;
class QStackedLayout;
class QVBoxLayout;

namespace ddbench::gui {

/// A page of the dashboard: heading, controls, a place for errors, and a scrolling body. Loads in jobs, only
/// while it is visible and only when its content has changed. Belongs to the GUI thread.
class Page : public QWidget {
 public:
  Page(Workspace& workspace, const QString& title, const QString& about);

  /// Store, subject or run may have changed: reloads if they did, now or when the page is next shown.
  void refresh();
  /// Loads even if nothing has changed.
  void reload();

  /// Why a job failed and what to do about it; empty if it succeeded.
  QString error_text() const;

 protected:
  /// Starts the jobs that fill the page.
  virtual void load() = 0;
  /// Equal keys, equal contents.
  virtual std::string key() const { return workspace_.key_of(subject()); }
  /// Whether the page has something to show of these runs (Workspace::subject_for).
  virtual bool suits(const std::vector<store::RunRecord>& runs) const { return !runs.empty(); }

  Subject subject() const {
    return workspace_.subject_for([this](const auto& runs) { return suits(runs); });
  }
  std::vector<store::RunRecord> subject_records() const { return workspace_.records_of(subject()); }
  const RunEntry* current_run() const { return workspace_.current_run(subject()); }
  /// The key of a page about one run of the subject.
  std::string run_key() const;

  Workspace& workspace() noexcept { return workspace_; }
  const Workspace& workspace() const noexcept { return workspace_; }
  QVBoxLayout* body() noexcept { return body_; }
  /// Adds a control after the existing ones.
  void add_control(QWidget* control);

  /// A box with the sweeps, the selected and all runs, to choose the subject from.
  void add_subject_box();
  /// A box with the runs of the subject.
  void add_run_box();
  /// Replaces the body by a message: why the page is empty, and how to change that. `command` may be empty.
  void show_message(const QString& title, const QString& text, const QString& command = {});
  void show_body();

  /// Runs `work` on another thread, then `show` with its result on this one. Replaces a job of the same slot.
  template <typename Result>
  void start(const std::string& slot, std::function<Result(JobContext&)> work,
             std::function<void(Result)> show) {
    workspace_.jobs.start(
        this, slot,
        [this, work = std::move(work), show = std::move(show)](JobContext& context) -> StoreJobs::Deliver {
          auto result = std::make_shared<Result>(work(context));
          return [this, show, result] {
            show_body();
            show(std::move(*result));
          };
        },
        [this](const JobFailure& failure) { show_failure(failure); });
  }
  virtual void show_failure(const JobFailure& failure);

  void showEvent(QShowEvent* event) override;

 private:
  void fill_boxes();
  void fill_subject_box();
  void fill_run_box();
  void make_head(const QString& title, const QString& about);
  void make_message();

  Workspace& workspace_;
  std::string loaded_key_;
  bool loaded_ = false;
  QWidget* controls_ = nullptr;
  QFrame* error_ = nullptr;
  QLabel* error_label_ = nullptr;
  QStackedLayout* stack_ = nullptr;
  QVBoxLayout* body_ = nullptr;
  QLabel* message_title_ = nullptr;
  QLabel* message_text_ = nullptr;
  QLabel* message_command_ = nullptr;
  QComboBox* subject_box_ = nullptr;
  QComboBox* run_box_ = nullptr;
};

}  // namespace ddbench::gui
