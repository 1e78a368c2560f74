#include "harness/training/checkpoint/checkpointer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "core/clock.h"
#include "core/error.h"
#include "core/unique_handle.h"
#include "harness/training/checkpoint/checkpoint_files.h"
#include "harness/training/optimizer/host_copies.h"

namespace ddbench::ddp {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kKept = 2;  // the newest, and one to fall back to
constexpr const char* kRecentLosses = "recent_losses";
constexpr const char* kLossScale = "loss_scale";

void check_file_system(const std::error_code& error, const char* action, const fs::path& path) {
  if (!error) return;
  throw Error(ErrorCode::kEnvironment,
              fmt::format("cannot {} the checkpoint {}: {}", action, path.string(), error.message()),
              error.value(), path.string());
}

/// Names in a directory are on disk only after this.
void sync_directory(const fs::path& directory) {
  const UniqueFd fd(::open(directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (fd.get() >= 0 && ::fsync(fd.get()) == 0) return;
  throw_errno(errno, fmt::format("cannot write the directory {}", directory.string()),
              ErrorCode::kEnvironment);
}

}  // namespace

Checkpointer::Checkpointer(const RunCase& run_case, CheckpointPlan plan, int rank, Strategy& strategy,
                           Optimizer& optimizer, TargetWatch& target, LossScale& loss_scale,
                           CommunicationThread& communication, host::Recorder& recorder,
                           workload::Probe& probe, device::Device& device, TrainingMonitor& monitor)
    : run_case_(run_case),
      plan_(std::move(plan)),
      rank_(rank),
      strategy_(strategy),
      optimizer_(optimizer),
      target_(target),
      loss_scale_(loss_scale),
      communication_(communication),
      recorder_(recorder),
      probe_(probe),
      device_(device),
      monitor_(monitor),
      name_(probe.intern("checkpoint")) {}

std::vector<NamedTensor> Checkpointer::parameters() const {
  std::vector<NamedTensor> tensors;
  for (const workload::Parameter& parameter : strategy_.parameters()) {
    tensors.push_back({parameter.spec.name, parameter.value});
  }
  return tensors;
}

std::uint32_t Checkpointer::restore() {
  if (plan_.resume_from.empty()) return 0;
  ReportedWork work(monitor_, LongWork::kReadCheckpoint);
  const SafetensorsFile parameter_file(parameters_file(plan_.resume_from));
  const auto read = [&work](const SafetensorsFile& file, std::vector<NamedTensor> tensors, device::Device& device) {
    HostCopies copies(std::move(tensors), device);
    file.read(copies.tensors(), [&work] { work.piece_done(); });
    copies.upload();
  };
  if (strategy_.source() == nullptr) {
    read(parameter_file, parameters(), device_);
  } else {
    parameter_file.read_each(parameters(), [&](std::size_t parameter, const void* values) {
      strategy_.set_values(parameter, static_cast<const float*>(values));
      work.piece_done();
    });
  }
  read(SafetensorsFile(state_file(plan_.resume_from, state_rank())), optimizer_.state(), optimizer_.state_device());
  target_.restore(parameter_file.required(kRecentLosses));
  if (loss_scale_.wanted()) loss_scale_.restore(parameter_file.required(kLossScale));
  return steps_done_of(parameter_file);
}

void Checkpointer::after_step(std::uint32_t step, bool last) {
  if (plan_.directory.empty() || run_case_.checkpoint_every == 0) return;
  const std::uint32_t steps_done = step + 1;
  if (!last && steps_done % static_cast<std::uint32_t>(run_case_.checkpoint_every) != 0) return;
  const std::int64_t begin_ns = now_ns();
  // The recording of these steps must outlive a rank that is killed: they will not be repeated.
  {
    ReportedWork work(monitor_, LongWork::kWriteCheckpoint);
    recorder_.flush();
    write(steps_done, work);
  }
  barrier();
  if (rank_ == 0) publish(steps_done);
  recorder_.record_scalar("checkpoint_seconds", step, static_cast<double>(now_ns() - begin_ns) / 1e9);
}

void Checkpointer::write(std::uint32_t steps_done, ReportedWork& work) {
  if (!writes_state()) return;
  const fs::path folder = plan_.directory / partial_checkpoint_name(steps_done);
  std::error_code error;
  fs::create_directory(folder, error);
  check_file_system(error, "make", folder);
  Metadata metadata = checkpoint_metadata(run_case_, steps_done);
  const std::vector<NamedTensor> state = optimizer_.state();
  std::int64_t bytes = 0;
  for (const NamedTensor& named : state) bytes += named.tensor.bytes();
  if (rank_ == 0) {
    for (const NamedTensor& named : parameters()) bytes += named.tensor.bytes();
  }
  const auto span = probe_.host_span(SpanKind::kCopy, name_, bytes);
  const auto wrote_piece = [&work] { work.piece_done(); };
  write_safetensors(state_file(folder, rank_), HostCopies(state, optimizer_.state_device()).download(), metadata, wrote_piece);
  const std::vector<std::vector<float>> gathered = gather_values();
  if (rank_ != 0) return;
  metadata[kRecentLosses] = target_.recent();
  if (loss_scale_.wanted()) metadata[kLossScale] = loss_scale_.state();
  metadata[kStateFiles] = std::to_string(strategy_.updates_everything() ? 1 : run_case_.world_size());
  std::vector<NamedTensor> values = parameters();
  for (std::size_t i = 0; i < gathered.size(); ++i) values[i].tensor.data = const_cast<float*>(gathered[i].data());
  if (gathered.empty()) values = HostCopies(std::move(values), device_).download();
  write_safetensors(parameters_file(folder), values, std::move(metadata), wrote_piece);
}

/// On rank 0, where ranks keep shares of the values: all of them, in the host's memory. All ranks take part.
std::vector<std::vector<float>> Checkpointer::gather_values() {
  std::vector<std::vector<float>> gathered;
  if (strategy_.source() == nullptr) return gathered;
  strategy_.read_values([&](std::size_t parameter, const float* values) {
    if (rank_ == 0) gathered.emplace_back(values, values + strategy_.parameters()[parameter].spec.elements());
  });
  return gathered;
}

/// Every rank's file is on disk.
void Checkpointer::publish(std::uint32_t steps_done) const {
  ReportedWork work(monitor_, LongWork::kWriteCheckpoint);
  const fs::path partial = plan_.directory / partial_checkpoint_name(steps_done);
  const fs::path whole = plan_.directory / checkpoint_name(steps_done);
  sync_directory(partial);
  if (!remove_checkpoint(whole)) {  // one that was no good when the run was resumed
    throw Error(ErrorCode::kEnvironment,
                fmt::format("cannot replace the checkpoint {}: it holds files that ddbench did not write",
                            whole.string()),
                0, whole.string());
  }
  std::error_code error;
  fs::rename(partial, whole, error);
  check_file_system(error, "rename", partial);
  sync_directory(plan_.directory);
  const std::vector<fs::path> all = list_checkpoints(plan_.directory);
  for (std::size_t i = kKept; i < all.size(); ++i) {
    remove_checkpoint(all[i]);
    work.piece_done();
  }
}

void Checkpointer::barrier() {
  communication_.submit(
      [step = probe_.step()](RecordedCollectives& collectives) { collectives.barrier({.step = step}); });
  communication_.wait();
}

}  // namespace ddbench::ddp
