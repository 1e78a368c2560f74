#include "gui/models/store_jobs.h"

#include <QMetaObject>
#include <algorithm>
#include <new>

namespace ddbench::gui {
namespace {

constexpr int kThreads = 2;

struct Cancelled {};

}  // namespace

struct StoreJobs::Job {
  QPointer<QObject> receiver;
  const QObject* owner = nullptr;  ///< compared only
  std::string slot;
  std::filesystem::path file;
  Work work;
  Failed failed;
  std::atomic<bool> cancelled{false};
};

class StoreJobs::Context : public JobContext {
 public:
  Context(StoreJobs& jobs, std::shared_ptr<const Job> job) : jobs_(jobs), job_(std::move(job)) {}

  store::RunStore& store() override {
    if (!store_) {
      store_ =
          std::make_unique<store::RunStore>(store::RunStore::open(job_->file, store::OpenMode::kReadOnly));
    }
    return *store_;
  }
  void progress(int done, int total) override {
    QMetaObject::invokeMethod(
        &jobs_, [jobs = &jobs_, done, total] { jobs->report_activity(done, total); }, Qt::QueuedConnection);
  }
  void meanwhile(std::function<void()> deliver) override {
    QMetaObject::invokeMethod(
        &jobs_,
        [job = job_, deliver = std::move(deliver)] {
          if (!job->cancelled && job->receiver) deliver();
        },
        Qt::QueuedConnection);
  }
  void check() const override {
    if (job_->cancelled) throw Cancelled{};
  }

 private:
  StoreJobs& jobs_;
  std::shared_ptr<const Job> job_;
  std::unique_ptr<store::RunStore> store_;
};

StoreJobs::StoreJobs(std::filesystem::path file) : file_(std::move(file)) {
  for (int i = 0; i < kThreads; ++i) threads_.emplace_back([this] { run_jobs(); });
}

StoreJobs::~StoreJobs() {
  on_activity = nullptr;
  cancel_all();
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void StoreJobs::set_file(std::filesystem::path file) {
  cancel_all();
  file_ = std::move(file);
}

void StoreJobs::start(QObject* receiver, const std::string& slot, Work work, Failed failed) {
  cancel(receiver, slot);
  auto job = std::make_shared<Job>();
  job->receiver = receiver;
  job->owner = receiver;
  job->slot = slot;
  job->file = file_;
  job->work = std::move(work);
  job->failed = std::move(failed);
  unfinished_.push_back(job);
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(std::move(job));
  }
  wake_.notify_one();
  report_activity(0, 0);
}

void StoreJobs::cancel(const QObject* receiver, const std::string& slot) {
  for (const auto& job : unfinished_) {
    if (job->owner == receiver && job->slot == slot) job->cancelled = true;
  }
}

void StoreJobs::cancel(const QObject* receiver) {
  for (const auto& job : unfinished_) {
    if (job->owner == receiver) job->cancelled = true;
  }
}

bool StoreJobs::is_busy(const QObject* receiver) const {
  return std::any_of(unfinished_.begin(), unfinished_.end(),
                     [receiver](const auto& job) { return job->owner == receiver && !job->cancelled; });
}

void StoreJobs::cancel_all() {
  for (const auto& job : unfinished_) job->cancelled = true;
}

void StoreJobs::run_jobs() {
  for (;;) {
    std::shared_ptr<Job> job;
    {
      std::unique_lock lock(mutex_);
      wake_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (stopping_) return;
      job = std::move(waiting_.front());
      waiting_.pop_front();
    }
    Deliver deliver = run(job);
    QMetaObject::invokeMethod(
        this, [this, job, deliver = std::move(deliver)] { finish(job, deliver); }, Qt::QueuedConnection);
  }
}

// One of the three places where errors are caught (DESIGN 6): they are shown on the page that started the
// job.
StoreJobs::Deliver StoreJobs::run(const std::shared_ptr<Job>& job) {
  const auto failure = [&](ErrorCode code, const std::string& message) -> Deliver {
    return [failed = job->failed, failure = JobFailure{code, QString::fromStdString(message)}] {
      if (failed) failed(failure);
    };
  };
  try {
    if (job->cancelled) return {};
    Context context(*this, job);
    return job->work(context);
  } catch (const Cancelled&) {
    return {};
  } catch (const Error& error) {
    return failure(error.code(), error.message());
  } catch (const std::bad_alloc&) {
    return failure(ErrorCode::kEnvironment, "not enough memory for this");
  } catch (const std::exception& error) {
    return failure(ErrorCode::kRunFailed, std::string("internal error: ") + error.what());
  }
}

void StoreJobs::finish(const std::shared_ptr<Job>& job, const Deliver& deliver) {
  unfinished_.erase(std::remove(unfinished_.begin(), unfinished_.end(), job), unfinished_.end());
  if (deliver && !job->cancelled && job->receiver) deliver();
  report_activity(0, 0);
}

void StoreJobs::report_activity(int done, int total) {
  if (!on_activity) return;
  const auto running =
      std::count_if(unfinished_.begin(), unfinished_.end(), [](const auto& job) { return !job->cancelled; });
  on_activity({static_cast<int>(running), done, total});
}

}  // namespace ddbench::gui
