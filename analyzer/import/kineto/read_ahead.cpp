#include "analyzer/import/kineto/read_ahead.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace ddbench::imports {

ReadAhead::ReadAhead(Source source)
    : ahead_([source = std::move(source)](Ahead<Block>::Room& room) { produce(source, room); }) {}

void ReadAhead::produce(const Source& source, Ahead<Block>::Room& room) {
  while (Block* const block = room.next()) {
    block->size = 0;
    for (std::size_t got = 1; got > 0 && block->size < block->bytes.size(); block->size += got)
      got = source(block->bytes.data() + block->size, block->bytes.size() - block->size);
    if (block->size == 0) return;
    room.hand_over();
  }
}

std::size_t ReadAhead::read(char* to, std::size_t size) {
  if (block_ == nullptr || at_ == block_->size) {
    block_ = ahead_.take();
    at_ = 0;
  }
  if (block_ == nullptr) return 0;
  const std::size_t count = std::min(size, block_->size - at_);
  std::memcpy(to, block_->bytes.data() + at_, count);
  at_ += count;
  return count;
}

}  // namespace ddbench::imports
