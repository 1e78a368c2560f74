#include "harness/training/strategy/strategy.h"

#include <fmt/format.h>

#include <cmath>

namespace ddbench::ddp {

Strategy::Strategy(const StrategySite& site)
    : site_(site),
      accumulator_(site.run_case.accumulate, site.device, site.probe),
      overflows_(site.device, site.communication),
      norm_name_(site.probe.intern("gradient_norm")),
      unscale_name_(site.probe.intern("unscale_gradients")) {}

void Strategy::set_parameters(const std::vector<device::Tensor>& values,
                              const std::vector<device::Tensor>& gradients,
                              const device::Tensor& all_values) {
  for (std::size_t i = 0; i < site_.specs.size(); ++i) {
    parameters_.push_back({site_.specs[i], values[i], gradients[i]});
  }
  all_values_ = all_values;
  if (!reduces_each_micro_batch()) accumulator_.reserve(gradients);
}

void Strategy::add_slice(std::size_t parameter, std::int64_t first, std::int64_t count,
                         const device::Tensor& gradient) {
  add_slice(parameter, first, parameters_[parameter].value.part(first, count), gradient);
}

void Strategy::add_slice(std::size_t parameter, std::int64_t first, const device::Tensor& value,
                         const device::Tensor& gradient) {
  const workload::ParameterSpec& spec = site_.specs[parameter];
  const std::int64_t count = value.elements();
  Slice slice{.name = spec.name,
              .is_whole = count == spec.elements(),
              .is_matrix = spec.rows > 1,
              .value = value,
              .gradient = gradient};
  if (!slice.is_whole) slice.name += fmt::format("[{}:{}]", first, first + count);
  slices_.push_back(std::move(slice));
}

void Strategy::add_slice(std::size_t parameter) {
  const device::Tensor& gradient = gradient_of(parameter);
  add_slice(parameter, 0, gradient.elements(), gradient.part(0, gradient.elements()));
}

std::uint64_t Strategy::submit(CommunicationThread::Job job) {
  return submit_after(site_.device, site_.communication, std::move(job));
}

void Strategy::set_values(std::size_t parameter, const float* values) {
  site_.device.upload(values, parameters_[parameter].value);
}

void Strategy::read_values(const std::function<void(std::size_t parameter, const float* values)>& take) {
  std::vector<float> values;
  for (std::size_t i = 0; i < parameters_.size(); ++i) {
    values.resize(static_cast<std::size_t>(parameters_[i].spec.elements()));
    site_.device.download(parameters_[i].value, values.data());
    take(i, values.data());
  }
}

void Strategy::share_parameters() {
  submit([values = elements(all_values_)](RecordedCollectives& collectives) {
    collectives.broadcast(values, 0);
    collectives.barrier();
  });
  site_.communication.wait();
}

void Strategy::begin_backward(int micro_batch) {
  micro_batch_ = micro_batch;
  if (is_last_micro_batch() || reduces_each_micro_batch()) begin_reduction();
}

void Strategy::on_ready(std::size_t parameter) {
  if (!reduces_each_micro_batch()) {
    if (!is_last_micro_batch()) return accumulator_.add(parameter, micro_batch_, gradient_of(parameter));
    accumulator_.finish(parameter, gradient_of(parameter));
  }
  if (measures_norms_) {
    const auto span = site_.probe.span(SpanKind::kCompute, norm_name_, gradient_of(parameter).bytes());
    site_.device.add_squared_norm(gradient_of(parameter));
  }
  reduce_when_ready(parameter);
}

void Strategy::finish_backward() {
  if (!is_last_micro_batch() && !reduces_each_micro_batch()) return;
  if (measures_norms_) local_square_ += site_.device.take_squared_norm();
  wait();
  finish_reduction();
}

void Strategy::update(Optimizer& optimizer, std::uint32_t updates, double lr) {
  optimizer.update_each(0, slices_.size(), updates, lr);
}

void Strategy::capture_update(Optimizer& optimizer) {
  finish_reduction();
  optimizer.update_each(0, slices_.size(), 0, 0);
}

bool Strategy::unscale(float scale) {
  for (const Slice& slice : slices_) {
    const auto span = site_.probe.span(SpanKind::kOptimizer, unscale_name_, slice.gradient.bytes());
    site_.device.scale(slice.gradient, 1 / scale);
    site_.device.add_squared_norm(slice.gradient);  // a sum of float64, which no finite gradient overflows
  }
  local_square_ /= static_cast<double>(scale) * static_cast<double>(scale);
  const bool finite = std::isfinite(site_.device.take_squared_norm());
  if (updates_everything()) return finite;  // all ranks have the same averages
  overflows_.submit(finite ? 0 : 1, {.step = site_.probe.step()});
  wait();
  return overflows_.get() == 0;
}

bool Strategy::can_measure_norms() const noexcept {
  return site_.run_case.accumulate == 1 || !reduces_each_micro_batch();
}

void Strategy::measure_norms(bool measure) noexcept {
  measures_norms_ = measure;
  local_square_ = 0;
}

double Strategy::mean_square() {
  for (const Slice& slice : slices_) {
    const auto span = site_.probe.span(SpanKind::kCompute, norm_name_, slice.gradient.bytes());
    site_.device.add_squared_norm(slice.gradient);
  }
  const double square = site_.device.take_squared_norm();
  return updates_everything() ? square : square * site_.world_size;
}

void Strategy::wait() {
  site_.clock.pause_host();
  site_.communication.wait();
  site_.clock.resume_host();
}

void Strategy::wait(std::uint64_t job) {
  site_.clock.pause_host();
  site_.communication.wait(job);
  site_.clock.resume_host();
}

}  // namespace ddbench::ddp
