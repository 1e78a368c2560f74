// How CUPTI's buffers come to the probe.
#include <cstdlib>
#include <vector>

#include "probes/cupti/cupti_probe.h"
#include "probes/cupti/cupti_versions.h"

namespace ddbench::cuda {

void CuptiProbe::buffer_requested(std::uint8_t** buffer, std::size_t* bytes, std::size_t* records) {
  CuptiProbe* const probe = active.load();
  *buffer = probe != nullptr ? probe->buffers_.take() : nullptr;
  *bytes = *buffer != nullptr ? BufferPool::kBufferBytes : 0;
  if (probe == nullptr) {  // a call that was traced as the probe ended; the process keeps these bytes: some CUPTIs crash when refused
    *buffer = static_cast<std::uint8_t*>(std::calloc(1, BufferPool::kDiscardedBytes));
    *bytes = *buffer != nullptr ? BufferPool::kDiscardedBytes : 0;
  }
  if (*buffer == nullptr && probe != nullptr && !takes_a_refusal(probe->version_)) {
    *buffer = probe->buffers_.take_to_discard();
    *bytes = *buffer != nullptr ? BufferPool::kDiscardedBytes : 0;
  }
  *records = 0;  // as many as fit
}

void CuptiProbe::buffer_completed(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                                  std::size_t /*bytes*/, std::size_t valid_bytes) {
  CuptiProbe* const probe = active.load();
  if (probe != nullptr && buffer != nullptr) probe->take_buffer(context, stream, buffer, valid_bytes);
}

std::uint64_t CuptiProbe::note_dropped(CUcontext context, std::uint32_t stream) noexcept {
  const std::size_t dropped = cupti_.take_dropped(context, stream);
  const std::lock_guard lock(mutex_);
  dropped_records_ += dropped;
  return dropped;
}

void CuptiProbe::take_buffer(CUcontext context, std::uint32_t stream, std::uint8_t* buffer,
                             std::size_t bytes) {
  const std::uint64_t dropped = note_dropped(context, stream);
  try {
    std::vector<const CUpti_Activity*> records;
    CUpti_Activity* record = nullptr;
    while (cupti_.next_record(buffer, bytes, &record) == CUPTI_SUCCESS) records.push_back(record);
    const bool is_used = buffers_.is_used(buffer);
    if (is_used) call_names_.learn(records);
    const std::lock_guard lock(mutex_);
    if (!is_used) {
      dropped_records_ += records.size();
      records.clear();
    }
    if (recording_) recording_->add_buffer(context, stream, dropped, {buffer, bytes}, records);
    if (ranges_.any()) spans_.expect_ranges();
    spans_.convert(records);
  } catch (...) {  // no memory: the recorder counts what it drops, and these are lost
    const std::lock_guard lock(mutex_);
    ++dropped_records_;
  }
  buffers_.give_back(buffer);
}

}  // namespace ddbench::cuda
