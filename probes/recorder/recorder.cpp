#include "probes/recorder/recorder.h"

#include <optional>

#include "probes/recorder/drain.h"

namespace ddbench::host {

Recorder::Recorder(const RecorderOptions& options) : drain_(std::make_unique<Drain>(options)) {}
Recorder::~Recorder() = default;

Recorder::Track& Recorder::track(Lane lane) {
  return drain_->add_track(lane);
}

std::uint32_t Recorder::intern(std::string_view name) {
  return drain_->intern(name);
}

void Recorder::set_enabled(bool enabled) noexcept {
  drain_->set_enabled(enabled);
}

void Recorder::record_scalar(std::string_view name, std::uint32_t step, double value) {
  drain_->add_scalar(name, step, value);
}

void Recorder::flush() {
  drain_->flush();
}

std::uint64_t Recorder::dropped() const noexcept {
  return drain_->dropped();
}

RecorderCost Recorder::cost() const {
  return drain_->cost();
}

std::string Recorder::failure() const {
  return drain_->failure();
}

void Recorder::stop() {
  if (const std::optional<Error> error = drain_->stop()) throw *error;
}

}  // namespace ddbench::host
