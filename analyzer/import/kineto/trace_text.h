#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "analyzer/import/kineto/file_bytes.h"

namespace ddbench::imports {

/// A piece of JSON: one value, or an array of some events. simdjson may read the padding behind it.
struct JsonPiece {
  std::string_view text;
  std::size_t readable = 0;  ///< bytes from text.data() on that may be read
  std::uint64_t offset = 0;  ///< of text.front() in the (inflated) file
  bool is_window = false;    ///< an array that may end within an event; call TraceText::took()
};

/// How far the parser read a window.
struct WindowRead {
  std::size_t to = 1;         ///< in JsonPiece::text: behind the last event that was taken, or at the one that was not
  bool behind_event = false;  ///< the first of the two
};

/// Divides a trace, `{"key": value, ..., "traceEvents": [event, ...], ...}` or just `[event, ...]`, into
/// pieces that a JSON parser takes one at a time, so that a trace of any size needs the memory of some
/// events. It only looks for the ends of values and does not check the text between them: the parser decides
/// whether a piece is JSON.
class TraceText {
 public:
  /// How to treat a file that ends within its list of events: as damaged, or as one that its program could
  /// not finish, whose complete events all count.
  enum class AtCutOff { kRefuse, kEnd };
  /// Windows end at the last available line end, because no JSON string contains one: nobody has to search
  /// for the ends of events. But an event may be cut, and the reader must report how far it came. If it made
  /// no progress, the next piece is exact.
  enum class Pieces { kExact, kWindows };
  explicit TraceText(FileBytes& file, AtCutOff at_cut_off = AtCutOff::kRefuse, Pieces pieces = Pieces::kExact);

  enum class What { kMember, kEvents, kEnd };
  /// kMember: `key` and `piece` are one of the outermost members; kEvents: `piece` is an array of events, of which more
  /// may come. Both are valid until the next call. Throws Error{kBadInput} with the file and the offset when the text
  /// ends too early or is no trace, or for a single value of more than 64 MB; and as FileBytes.
  What next(std::string_view& key, JsonPiece& piece);

  /// After a window, before the next call of next().
  void took(const WindowRead& read);

  /// After kEnd: whether the file ended within its events (AtCutOff::kEnd).
  bool is_cut_off() const noexcept { return is_cut_off_; }

 private:
  enum class State { kBegin, kMembers, kEvents, kDone };

  [[noreturn]] void fail(std::size_t at, std::string_view why) const;
  bool fill();                ///< reads more of the file; false at its end
  void cut_off(std::size_t at, std::string_view why);  ///< the file ends here: acts according to AtCutOff
  void drop(std::size_t to);  ///< forgets what lies before
  char peek_token();          ///< the next character that is no white space; at_ is there. ']' where the file is cut off
  std::size_t end_of_value();
  std::string_view next_key();
  JsonPiece events();
  JsonPiece window(std::size_t line_end);
  JsonPiece exact_events();
  JsonPiece piece_of(std::size_t from, std::size_t to);

  FileBytes& file_;
  std::vector<char> buffer_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;
  std::uint64_t dropped_ = 0;
  State state_ = State::kBegin;
  bool is_object_ = false;
  bool needs_comma_ = false;
  std::size_t restore_at_ = 0;  ///< where two characters, a separator and what follows, were overwritten
  std::array<char, 2> restored_{};
  std::vector<char> key_;
  AtCutOff at_cut_off_;
  Pieces pieces_;
  bool is_next_exact_ = false;
  bool is_behind_event_ = false;  ///< a separator must follow
  bool is_cut_off_ = false;
};

}  // namespace ddbench::imports
