#pragma once

#include <QWidget>
#include <functional>
#include <map>
#include <memory>
#include <optional>
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
  virtual void reload();
  /// Forgets what is shown and stops what is being loaded: it is of another store, or loading was cancelled. Shows this message
  /// until the page is refreshed or shown, when it loads.
  virtual void unload(const QString& title, const QString& text);
  bool is_loading() const { return workspace_.jobs.is_busy(this); }

  /// Why jobs failed and what to do about it, a line for each slot; empty if all succeeded.
  QString error_text() const;

 protected:
  /// Starts the jobs that fill the page, after cancel_outdated().
  virtual void load() = 0;
  /// Cancels the jobs of earlier loads: what they would show is of other runs.
  virtual void cancel_outdated() { workspace_.jobs.cancel(this); }
  /// Equal keys, equal contents.
  virtual std::string key() const { return workspace_.key_of(subject()); }
  /// Whether the page has something to show of these runs (Workspace::subject_for).
  virtual bool suits(const Entries& runs) const { return !runs.empty(); }

  /// As of the last refresh: to find it may take a look at every run.
  const Subject& subject() const noexcept { return subject_; }
  std::vector<store::RunRecord> subject_records() const { return workspace_.records_of(subject_); }
  const RunEntry* current_run() const { return workspace_.current_run(subject_); }
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
  /// Replaces the body by a message: why the page is empty, and how to change that. `command` may be empty. While a result of
  /// a slot is shown, the message is that slot's: results of other slots leave it.
  void show_message(const QString& title, const QString& text, const QString& command = {});
  void show_body();

  /// Runs `work` on another thread, then `show` with its result on this one. Replaces a job of the same slot.
  template <typename Result>
  void start(const std::string& slot, std::function<Result(JobContext&)> work,
             std::function<void(Result)> show) {
    workspace_.jobs.start(
        this, slot,
        [this, slot, work = std::move(work), show = std::move(show)](JobContext& context) -> StoreJobs::Deliver {
          auto result = std::make_shared<Result>(work(context));
          return [this, slot, show, result] {
            deliver(slot, [&] { show(std::move(*result)); });
          };
        },
        [this, slot](const JobFailure& failure) {
          deliver(slot, [&] { show_failure(slot, failure); });
        });
  }
  /// Stops the job of a slot and takes back its error.
  void stop(const std::string& slot);
  /// The error stays until the slot delivers or fails again, or the page loads.
  virtual void show_failure(const std::string& slot, const JobFailure& failure);

  void showEvent(QShowEvent* event) override;

 private:
  void deliver(const std::string& slot, const std::function<void()>& show);
  void show_errors();
  void clear_cards();
  void fill_boxes();
  void fill_subject_box();
  void fill_run_box();
  void make_head(const QString& title, const QString& about);
  void make_message();

  Workspace& workspace_;
  Subject subject_;
  std::string loaded_key_;
  bool loaded_ = false;
  std::map<std::string, QString> errors_;  ///< by slot
  std::string delivering_;                 ///< slot whose result is being shown; else empty
  std::string message_slot_;               ///< slot that the message is of; empty: any result replaces it
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
  std::optional<std::string> run_box_key_;  ///< of the runs that the box offers
};

}  // namespace ddbench::gui
