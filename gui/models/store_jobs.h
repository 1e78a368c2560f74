#pragma once

#include <QObject>
#include <QPointer>
#include <QString>
#include <atomic>
#include <condition_variable>
#include <deque>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "analyzer/store/rows/run_store.h"
#include "core/error.h"

namespace ddbench::gui {

/// The reason why a job failed, for the page that started it.
struct JobFailure {
  ErrorCode code = ErrorCode::kRunFailed;
  QString message;
};

/// The interface of a running job: cancellation, progress and intermediate results. Used on the job's thread
/// only.
class JobContext {
 public:
  virtual ~JobContext() = default;
  virtual store::RunStore& store() = 0;  ///< read-only
  virtual void progress(int done, int total) = 0;
  /// Runs `deliver` on the GUI thread before the job ends; dropped under the same conditions as the result.
  virtual void meanwhile(std::function<void()> deliver) = 0;
  /// Throws (caught by StoreJobs) when the job was cancelled or replaced: call it between parts of long work.
  virtual void check() const = 0;
};

/// How many jobs are waiting or running, and the progress of the newest job that reports it; total 0: no
/// progress reported.
struct JobActivity {
  int jobs = 0;
  int done = 0;
  int total = 0;
};

/// Runs work on a store off the GUI thread, on two threads, in the order of the requests. Belongs to the GUI
/// thread; `done`, `failed` and `on_activity` are called there. The store is opened read-only for each job,
/// so that the next job sees a store that was created, replaced or repaired.
class StoreJobs : public QObject {
 public:
  using Deliver = std::function<void()>;
  using Work = std::function<Deliver(JobContext&)>;
  using Failed = std::function<void(const JobFailure&)>;

  explicit StoreJobs(std::filesystem::path file);
  ~StoreJobs() override;  ///< cancels waiting and running jobs, and waits for the running ones

  const std::filesystem::path& file() const noexcept { return file_; }
  void set_file(std::filesystem::path file);  ///< cancels all

  /// `work` returns a function that uses its result on the GUI thread. That function and `failed` are dropped
  /// if `receiver` was destroyed or the job was cancelled. A job replaces an earlier job of the same receiver
  /// and slot.
  void start(QObject* receiver, const std::string& slot, Work work, Failed failed);
  void cancel(const QObject* receiver, const std::string& slot);
  void cancel(const QObject* receiver);  ///< its jobs of all slots
  void cancel_all();

  bool is_idle() const noexcept { return unfinished_.empty(); }
  /// A job of this receiver waits or runs.
  bool is_busy(const QObject* receiver) const;
  std::function<void(const JobActivity&)> on_activity;

 private:
  struct Job;
  class Context;
  void run_jobs();
  Deliver run(const std::shared_ptr<Job>& job);
  void finish(const std::shared_ptr<Job>& job, const Deliver& deliver);
  void report_activity(int done, int total);

  std::filesystem::path file_;
  std::vector<std::shared_ptr<Job>> unfinished_;  ///< GUI thread only
  std::mutex mutex_;
  std::condition_variable wake_;
  std::deque<std::shared_ptr<Job>> waiting_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace ddbench::gui
