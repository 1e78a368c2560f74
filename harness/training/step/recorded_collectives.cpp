#include "harness/training/step/recorded_collectives.h"

#include <algorithm>

#include "core/clock.h"
#include "core/name_table.h"

namespace ddbench::ddp {

using collective::Elements;

RecordedCollectives::RecordedCollectives(collective::Communicator& communicator, host::Recorder& recorder,
                                         TrainingMonitor& monitor, cuda::CudaProbe* kernels)
    : communicator_(communicator), recorder_(recorder), monitor_(monitor), kernels_(kernels) {
  std::transform(kNames.begin(), kNames.end(), name_ids_.begin(),
                 [&](std::string_view name) { return recorder.intern(name); });
  recorder.intern(communicator_size_name({communicator.id(), communicator.world_size()}));
}

void RecordedCollectives::all_reduce_sum(Elements data, Place place) {
  record(Function::kAllReduce, data.bytes(), place, [&] { communicator_.all_reduce_sum(data); });
}

void RecordedCollectives::reduce_scatter_sum(Elements input, Elements output, Place place) {
  record(Function::kReduceScatter, input.bytes(), place,
         [&] { communicator_.reduce_scatter_sum(input, output); });
}

void RecordedCollectives::all_gather(Elements input, Elements output, Place place) {
  record(Function::kAllGather, output.bytes(), place, [&] { communicator_.all_gather(input, output); });
}

void RecordedCollectives::negotiate(Elements input, Elements output, Place place) {
  record(Function::kNegotiate, output.bytes(), place, [&] { communicator_.all_gather(input, output); });
}

void RecordedCollectives::broadcast(Elements data, int root) {
  record(Function::kBroadcast, data.bytes(), {}, [&] { communicator_.broadcast(data, root); });
}

void RecordedCollectives::barrier(Place place) {
  record(Function::kBarrier, 0, place, [&] { communicator_.barrier(); });
}

void RecordedCollectives::wait_for_graph(const std::function<bool()>& is_done, std::string_view first_collective) {
  monitor_.on_collective_begin(first_collective, sequence_);
  communicator_.queued()->wait_until(is_done);
  monitor_.on_collective_end(sequence_);
}

Span RecordedCollectives::begin(Function function, std::int64_t bytes, Place place) {
  const auto index = static_cast<std::size_t>(function);
  const std::uint64_t sequence = ++sequence_;
  monitor_.on_collective_begin(kNames[index], sequence);
  return {.begin_ns = now_ns(),
          .bytes = static_cast<std::uint64_t>(bytes),
          .correlation = key(sequence),
          .name_id = name_ids_[index],
          .step = place.step,
          .kind = SpanKind::kCommunication,
          .lane = Lane::kCommunication,
          .bucket = place.bucket};
}

void RecordedCollectives::finish(Span& span) {
  span.end_ns = now_ns();
  if (cuda::if_it_records(kernels_) == nullptr) track_->record(span);
  monitor_.on_collective_end(sequence_);
}

}  // namespace ddbench::ddp
