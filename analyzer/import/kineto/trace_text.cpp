#include "analyzer/import/kineto/trace_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include "core/error.h"

namespace ddbench::imports {
namespace {

constexpr std::size_t kBufferBytes = std::size_t{128} << 10;
constexpr std::size_t kLargestValueBytes = std::size_t{64} << 20;
constexpr std::size_t kPaddingBytes = 64;  // SIMDJSON_PADDING

enum class Mark : unsigned char { kNone, kQuote, kOpen, kClose, kComma };

constexpr std::array<Mark, 256> kMarks = [] {
  std::array<Mark, 256> marks{};
  marks['"'] = Mark::kQuote;
  marks['{'] = marks['['] = Mark::kOpen;
  marks['}'] = marks[']'] = Mark::kClose;
  marks[','] = Mark::kComma;
  return marks;
}();

constexpr bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\t' || c == '\r';
}

/// Looks for what separates values that are in no other value.
struct Scan {
  std::size_t at;
  std::size_t depth = 0;
  bool in_string = false;

  /// True at a ',' ']' or '}' that belongs to no value from the scan's begin on.
  bool to_separator(const char* data, std::size_t begin, std::size_t end) {
    while (at < end) {
      if (in_string && !skip_string(data, begin, end)) return false;
      while (at < end && kMarks[static_cast<unsigned char>(data[at])] == Mark::kNone) ++at;
      if (at == end) return false;
      switch (kMarks[static_cast<unsigned char>(data[at])]) {
        case Mark::kQuote: in_string = true; break;
        case Mark::kOpen: ++depth; break;
        case Mark::kClose:
          if (depth == 0) return true;
          --depth;
          break;
        case Mark::kComma:
          if (depth == 0) return true;
          break;
        case Mark::kNone: break;
      }
      ++at;
    }
    return false;
  }

 private:
  bool skip_string(const char* data, std::size_t begin, std::size_t end) {
    while (at < end) {
      const void* const quote = std::memchr(data + at, '"', end - at);
      at = quote == nullptr ? end : static_cast<std::size_t>(static_cast<const char*>(quote) - data);
      if (quote == nullptr) return false;
      std::size_t backslashes = 0;
      while (at > begin + backslashes && data[at - 1 - backslashes] == '\\') ++backslashes;
      ++at;
      if (backslashes % 2 == 0) {
        in_string = false;
        return true;
      }
    }
    return false;
  }
};

}  // namespace

TraceText::TraceText(FileBytes& file, AtCutOff at_cut_off, Pieces pieces)
    : file_(file), buffer_(kBufferBytes + kPaddingBytes), at_cut_off_(at_cut_off), pieces_(pieces) {}

void TraceText::cut_off(std::size_t at, std::string_view why) {
  if (at_cut_off_ == AtCutOff::kRefuse || state_ != State::kEvents) fail(at, why);
  is_cut_off_ = true;
}

void TraceText::fail(std::size_t at, std::string_view why) const {
  throw Error(ErrorCode::kBadInput,
              fmt::format("{}, byte {}: {}", file_.file().string(), dropped_ + at, why), 0, file_.file().string());
}

bool TraceText::fill() {
  if (end_ + kPaddingBytes >= buffer_.size()) {
    if (buffer_.size() > kLargestValueBytes) fail(at_, "a value of more than 64 MB begins here: this is no trace");
    buffer_.resize(2 * buffer_.size());
  }
  const std::size_t got = file_.read(buffer_.data() + end_, buffer_.size() - kPaddingBytes - end_);
  end_ += got;
  return got > 0;
}

void TraceText::drop(std::size_t to) {
  std::memmove(buffer_.data(), buffer_.data() + to, end_ - to);
  dropped_ += to;
  end_ -= to;
  at_ -= to;
}

char TraceText::peek_token() {
  while (true) {
    while (at_ < end_ && is_space(buffer_[at_])) ++at_;
    if (at_ < end_) return buffer_[at_];
    if (at_ > 1) drop(at_ - 1);  // events() needs the byte before an event
    if (fill()) continue;
    cut_off(at_, state_ == State::kBegin ? "the file is empty" : "the file ends within the trace: it was cut off");
    return ']';
  }
}

std::size_t TraceText::end_of_value() {
  Scan scan{at_};
  while (!scan.to_separator(buffer_.data(), at_, end_)) {
    if (!fill()) fail(end_, "the file ends within the trace: it was cut off");
  }
  return scan.at;
}

JsonPiece TraceText::piece_of(std::size_t from, std::size_t to) {
  return {{buffer_.data() + from, to - from}, buffer_.size() - from, dropped_ + from};
}

std::string_view TraceText::next_key() {
  if (peek_token() != '"') fail(at_, "this is no Chrome trace: the name of a member was expected here");
  const std::size_t from = at_ + 1;
  std::size_t to = from;
  while (to == end_ || buffer_[to] != '"') {
    if (to == end_ && !fill()) fail(to, "the file ends within the trace: it was cut off");
    if (buffer_[to] != '"') ++to;
  }
  key_.assign(buffer_.data() + from, buffer_.data() + to);
  at_ = to + 1;
  if (peek_token() != ':') fail(at_, "':' was expected here");
  ++at_;
  peek_token();
  return {key_.data(), key_.size()};
}

JsonPiece TraceText::events() {
  // The separator before the first event is kept: it becomes the '[' of the piece.
  drop(at_ - 1);
  while (end_ + kPaddingBytes < buffer_.size() && fill()) {
  }
  if (pieces_ == Pieces::kWindows && !std::exchange(is_next_exact_, false)) {
    const void* const line_end = ::memrchr(buffer_.data() + at_, '\n', end_ - at_);
    if (line_end != nullptr) return window(static_cast<std::size_t>(static_cast<const char*>(line_end) - buffer_.data()));
  }
  return exact_events();
}

/// What follows is blank, too: a parser that is in the midst of an event there must not see how it goes on.
JsonPiece TraceText::window(std::size_t line_end) {
  restore_at_ = line_end;
  restored_ = {buffer_[line_end], buffer_[line_end + 1]};
  buffer_[at_ - 1] = '[';
  buffer_[line_end] = ']';
  buffer_[line_end + 1] = ' ';
  JsonPiece piece = piece_of(at_ - 1, line_end + 1);
  piece.is_window = true;
  return piece;
}

void TraceText::took(const WindowRead& read) {
  is_next_exact_ = read.to <= 1;
  is_behind_event_ = read.behind_event;
  at_ += read.to - 1;
}

JsonPiece TraceText::exact_events() {
  Scan scan{at_};
  std::size_t last = 0;
  while (true) {
    if (scan.to_separator(buffer_.data(), at_, end_)) {
      if (buffer_[scan.at] == '}') fail(scan.at, "'}' was not expected here");
      last = scan.at;
      if (buffer_[last] == ']') break;
      ++scan.at;
    } else if (last != 0) {
      break;
    } else if (!fill()) {
      cut_off(end_, "the file ends within an event: it was cut off");
      return {};
    }
  }
  restore_at_ = last;
  restored_ = {buffer_[last], buffer_[last + 1]};
  buffer_[at_ - 1] = '[';
  buffer_[last] = ']';
  const JsonPiece piece = piece_of(at_ - 1, last + 1);
  at_ = last;
  return piece;
}

TraceText::What TraceText::next(std::string_view& key, JsonPiece& piece) {
  if (restore_at_ != 0) std::memcpy(buffer_.data() + std::exchange(restore_at_, 0), restored_.data(), restored_.size());
  if (state_ == State::kBegin) {
    const char first = peek_token();
    if (first != '{' && first != '[') fail(at_, "this is no Chrome trace: it is no JSON object or array");
    is_object_ = first == '{';
    state_ = is_object_ ? State::kMembers : State::kEvents;
    ++at_;
  }
  if (state_ == State::kEvents) {
    if (std::exchange(is_behind_event_, false) && peek_token() != ',' && peek_token() != ']')
      fail(at_, "',' or ']' was expected here");
    if (peek_token() == ',' && std::exchange(needs_comma_, true)) ++at_;
    needs_comma_ = true;
    if (peek_token() != ']') piece = events();
    if (is_cut_off_) return state_ = State::kDone, What::kEnd;
    if (restore_at_ != 0) return What::kEvents;
    ++at_;
    state_ = is_object_ ? State::kMembers : State::kDone;
    needs_comma_ = true;
  }
  if (state_ == State::kDone) return What::kEnd;
  if (peek_token() == ',' && needs_comma_) {
    ++at_;
  } else if (peek_token() == '}') {
    state_ = State::kDone;
    return What::kEnd;
  } else if (needs_comma_) {
    fail(at_, "',' or '}' was expected here");
  }
  needs_comma_ = true;
  key = next_key();
  if (key == "traceEvents" && peek_token() == '[') {
    ++at_;
    state_ = State::kEvents;
    needs_comma_ = false;
    return next(key, piece);
  }
  const std::size_t to = end_of_value();
  piece = piece_of(at_, to);
  at_ = to;
  return What::kMember;
}

}  // namespace ddbench::imports
