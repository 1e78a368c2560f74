#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "core/threads/ahead.h"

namespace ddbench::imports {

/// Runs a source of bytes on a thread of its own, some blocks ahead of whoever reads them. Holds 256 KB.
class ReadAhead {
 public:
  /// Writes up to `size` bytes to `to`; 0 at the end. Called only on the other thread; its exceptions are
  /// rethrown by read().
  using Source = std::function<std::size_t(char* to, std::size_t size)>;
  explicit ReadAhead(Source source);

  /// As the source. All effects of the source's call are visible when this returns.
  std::size_t read(char* to, std::size_t size);

 private:
  struct Block {
    std::vector<char> bytes = std::vector<char>(std::size_t{64} << 10);
    std::size_t size = 0;
  };
  static void produce(const Source& source, Ahead<Block>::Room& room);

  const Block* block_ = nullptr;
  std::size_t at_ = 0;
  Ahead<Block> ahead_;
};

}  // namespace ddbench::imports
