#include "analyzer/store/rows/run_id_sequence.h"

#include <fmt/format.h>

#include <charconv>

namespace ddbench::store {

RunIdSequence::RunIdSequence() : time_(new_run_id()), number_(0) {
  const std::size_t dash = time_.rfind('-') + 1;
  std::from_chars(time_.data() + dash, time_.data() + time_.size(), number_, 16);
  time_.resize(dash);
}

RunId RunIdSequence::next() {
  char digits[8];
  std::uint32_t rest = number_++;
  for (std::size_t i = sizeof digits; i-- > 0; rest >>= 4) digits[i] = "0123456789abcdef"[rest & 0xf];
  return time_ + std::string(digits, sizeof digits);
}

}  // namespace ddbench::store
