#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/run_case/run_case.h"
#include "harness/device/device.h"
#include "harness/model/model.h"
#include "harness/training/optimizer/optimizer.h"
#include "harness/training/step/communication_thread.h"
#include "harness/training/step/rank_sum.h"
#include "harness/training/step/step_clock.h"
#include "harness/training/step/step_graphs.h"
#include "harness/training/strategy/gradient_accumulator.h"

namespace ddbench::ddp {

/// What a strategy works with. All of it outlives the strategy; `communication` must be stopped before the
/// strategy ends (EndOfCommunication).
struct StrategySite {
  const RunCase& run_case;
  const std::vector<workload::ParameterSpec>& specs;
  const workload::ParameterUses& uses;
  int rank;
  int world_size;
  CommunicationThread& communication;
  device::Device& device;
  StepClock& clock;
  workload::Probe& probe;
  StepGraphs& graphs;
};

/// How the ranks come to the same parameters in each step: where gradients lie, how they are averaged over
/// ranks while backward still computes others, and which rank updates what. All strategies give the training
/// of one rank at the same global batch. The rank's own thread only.
///
/// A step: for each micro-batch begin_backward(), on_ready() for each parameter, finish_backward(); then
/// update().
class Strategy {
 public:
  virtual ~Strategy() = default;
  Strategy(const Strategy&) = delete;
  Strategy& operator=(const Strategy&) = delete;

  /// Values and gradients in the order of registration, as a model takes them. Values have no memory where there is a
  /// source().
  const std::vector<workload::Parameter>& parameters() const noexcept { return parameters_; }
  /// Of the values, where a rank keeps only its share of them; else nullptr.
  virtual workload::ParameterSource* source() noexcept { return nullptr; }
  /// What this rank keeps of a parameter becomes that of `values`, which are all of them, on the host.
  virtual void set_values(std::size_t parameter, const float* values);
  /// Hands over all values of each parameter, in the order of registration; of a rank's shares by collectives: all ranks
  /// call it alike, outside of a step.
  virtual void read_values(const std::function<void(std::size_t parameter, const float* values)>& take);
  /// What this rank's optimizer updates: every parameter, or this rank's share. After the last
  /// finish_backward() of a step their gradients are averages over the ranks.
  const std::vector<Slice>& slices() const noexcept { return slices_; }
  /// Whether each rank updates every parameter.
  virtual bool updates_everything() const noexcept { return true; }

  /// Gives every rank the values of rank 0, and waits until all ranks have them.
  virtual void share_parameters();

  void begin_backward(int micro_batch);
  /// The gradient of a parameter is final.
  void on_ready(std::size_t parameter);
  /// Blocks until what was handed over is done. Throws the Error of a failed collective.
  void finish_backward();
  /// Divides the gradients of this rank's slices by `scale`. Returns, on all ranks alike, whether all slices
  /// of all ranks are finite. After the last finish_backward() of a step, before update().
  bool unscale(float scale);
  /// Updates this rank's slices and brings every rank all new values.
  /// `updates`: how many there were before, for Optimizer::update.
  virtual void update(Optimizer& optimizer, std::uint32_t updates, double lr);

  /// While a graph is captured, after the last micro-batch's backward: queues what finish_backward() and update() do behind
  /// its collectives. For those that update everything.
  void capture_update(Optimizer& optimizer);

  /// False where no rank has its own gradient of the whole step.
  bool can_measure_norms() const noexcept;
  /// Whether local_square() is computed in the step that begins, which costs a pass over the gradients.
  void measure_norms(bool measure) noexcept;
  bool measures_norms() const noexcept { return measures_norms_; }
  /// Of the step's gradient before it was averaged over ranks: this rank's |g|^2.
  double local_square() const noexcept { return local_square_; }
  /// Of the average: a number whose mean over ranks is |g|^2. Costs a pass over this rank's slices.
  double mean_square();

 protected:
  explicit Strategy(const StrategySite& site);

  /// From the constructors of strategies, once each: `values` and `gradients` in the order of registration,
  /// `all_values` the piece of memory that the values lie in.
  void set_parameters(const std::vector<device::Tensor>& values, const std::vector<device::Tensor>& gradients,
                      const device::Tensor& all_values);
  /// `count` elements of a parameter from `first` on are this rank's to update, with `gradient`.
  void add_slice(std::size_t parameter, std::int64_t first, std::int64_t count,
                 const device::Tensor& gradient);
  void add_slice(std::size_t parameter, std::int64_t first, const device::Tensor& value, const device::Tensor& gradient);
  /// The same, of a whole parameter with its own gradient.
  void add_slice(std::size_t parameter);

  /// A micro-batch begins that will be reduced: the last one, or each.
  virtual void begin_reduction() = 0;
  virtual void reduce_when_ready(std::size_t parameter) = 0;
  /// Everything that was handed over is done.
  virtual void finish_reduction() {}
  /// Whether gradients are averaged over ranks in each micro-batch, and not once after the last.
  virtual bool reduces_each_micro_batch() const noexcept { return false; }

  /// Hands a job to the communication thread, for when the device has done what was called for so far.
  /// Returns the job's number.
  std::uint64_t submit(CommunicationThread::Job job);
  /// Blocks until all jobs are done; that time is not the host's.
  void wait();
  /// The same of the jobs up to this number.
  void wait(std::uint64_t job);
  int micro_batch() const noexcept { return micro_batch_; }
  bool is_last_micro_batch() const noexcept { return micro_batch_ + 1 == site_.run_case.accumulate; }
  Place place(std::size_t bucket) const noexcept {
    return {site_.probe.step(), static_cast<std::uint16_t>(bucket)};
  }
  const device::Tensor& gradient_of(std::size_t parameter) const { return parameters_[parameter].gradient; }

  const StrategySite site_;

 private:
  GradientAccumulator accumulator_;
  std::vector<workload::Parameter> parameters_;
  std::vector<Slice> slices_;
  device::Tensor all_values_;
  RankSum overflows_;
  int micro_batch_ = 0;
  const std::uint32_t norm_name_;
  const std::uint32_t unscale_name_;
  bool measures_norms_ = false;
  double local_square_ = 0;
};

/// A float32 tensor as collectives take it.
inline collective::Elements elements(const device::Tensor& tensor) {
  return {tensor.data, tensor.elements(), collective::ElementType::kFloat32};
}

}  // namespace ddbench::ddp
