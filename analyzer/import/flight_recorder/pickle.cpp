#include "analyzer/import/flight_recorder/pickle.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <unordered_map>
#include <utility>
#include <vector>

#include "core/error.h"

namespace ddbench::imports {
namespace {

using Json = nlohmann::json;

constexpr int kHighestProtocol = 2;
constexpr std::size_t kMostOnStack = 1'000'000;
constexpr std::size_t kDeepest = 64;
constexpr std::size_t kMostRecalledBytes = std::size_t{64} << 20;

/// A value and its nesting depth: destroying a very deep value would exhaust the stack.
struct Value {
  Json json;
  std::size_t depth = 0;
};

class PickleReader {
 public:
  PickleReader(std::string_view bytes, const std::string& origin) : bytes_(bytes), origin_(origin) {}

  Json read() {
    while (true) {
      opcode_at_ = at_;
      const char opcode = take(1)[0];
      if (opcode == '.') break;
      apply(opcode);
      if (stack_.size() > kMostOnStack) fail("too much lies on the stack");
    }
    if (stack_.size() != 1) fail("it does not end with one value");
    return std::move(stack_.front().json);
  }

 private:
  [[noreturn]] void fail(std::string_view why) const {
    throw Error(ErrorCode::kBadInput, fmt::format("{}, byte {}: {}", origin_, opcode_at_, why), 0, origin_);
  }

  std::string_view take(std::size_t count) {
    if (count > bytes_.size() - at_) fail("the file ends here: it was cut off");
    return bytes_.substr(std::exchange(at_, at_ + count), count);
  }

  template <typename Number>
  Number number() {
    Number value;
    std::memcpy(&value, take(sizeof(Number)).data(), sizeof(Number));
    return value;  // little endian, as this machine
  }
  static_assert(std::endian::native == std::endian::little);

  void push(Json value) { stack_.push_back({std::move(value), 0}); }

  void apply(char opcode) {
    switch (opcode) {
      case '\x80':  // PROTO
        if (number<std::uint8_t>() > kHighestProtocol) fail("it is of a pickle protocol after 2");
        return;
      case '(': marks_.push_back(stack_.size()); return;
      case 'N': return push(nullptr);
      case '\x88': return push(true);
      case '\x89': return push(false);
      case 'K': return push(number<std::uint8_t>());
      case 'M': return push(number<std::uint16_t>());
      case 'J': return push(number<std::int32_t>());
      case '\x8a': return push_long();
      case 'G': return push_float();
      case 'X': return push_text(number<std::uint32_t>());
      case ']': return push(Json::array());
      case '}': return push(Json::object());
      case ')': return push(Json::array());
      case '\x85': return push_tuple(1);
      case '\x86': return push_tuple(2);
      case '\x87': return push_tuple(3);
      case 't': return push_tuple(since_mark());
      case 'a': return append(1);
      case 'e': return append(since_mark());
      case 's': return set_items(2);
      case 'u': return set_items(since_mark());
      case 'q': return remember(number<std::uint8_t>());
      case 'r': return remember(number<std::uint32_t>());
      case 'h': return recall(number<std::uint8_t>());
      case 'j': return recall(number<std::uint32_t>());
      default:
        fail(fmt::format("opcode 0x{:02x} has no place in a dump of the Flight Recorder, and is not carried out",
                         static_cast<unsigned char>(opcode)));
    }
  }

  void push_long() {
    const std::string_view digits = take(number<std::uint8_t>());
    if (digits.size() > sizeof(std::int64_t)) fail("an integer of more than 64 bits");
    std::uint64_t value = !digits.empty() && (digits.back() & 0x80) != 0 ? ~std::uint64_t{0} : 0;
    std::memcpy(&value, digits.data(), digits.size());
    push(static_cast<std::int64_t>(value));
  }

  void push_float() {
    std::uint64_t bits = 0;
    for (const char c : take(sizeof(bits))) bits = bits << 8 | static_cast<unsigned char>(c);
    push(std::bit_cast<double>(bits));
  }

  void push_text(std::size_t size) { push(std::string(take(size))); }

  std::size_t since_mark() {
    if (marks_.empty() || marks_.back() > stack_.size()) fail("a mark is missing");
    const std::size_t count = stack_.size() - marks_.back();
    marks_.pop_back();
    return count;
  }

  void need(std::size_t count) const {
    const std::size_t below = marks_.empty() ? 0 : marks_.back();
    if (stack_.size() < below || stack_.size() - below < count) fail("a value is missing");
  }

  void push_tuple(std::size_t count) {
    need(count);
    Value tuple{Json::array(), 0};
    for (std::size_t i = stack_.size() - count; i < stack_.size(); ++i) add(tuple, std::move(stack_[i]));
    stack_.resize(stack_.size() - count);
    stack_.push_back(std::move(tuple));
  }

  void add(Value& to, Value&& value) const {
    deepen(to, value);
    to.json.push_back(std::move(value.json));
  }
  void deepen(Value& to, const Value& value) const {
    to.depth = std::max(to.depth, value.depth + 1);
    if (to.depth > kDeepest) fail("lists lie in each other more than 64 deep");
  }

  void append(std::size_t count) {
    need(count + 1);
    Value& list = stack_[stack_.size() - count - 1];
    if (!list.json.is_array()) fail("values are added to what is no list");
    for (std::size_t i = stack_.size() - count; i < stack_.size(); ++i) add(list, std::move(stack_[i]));
    stack_.resize(stack_.size() - count);
  }

  void set_items(std::size_t count) {
    need(count + 1);
    Value& map = stack_[stack_.size() - count - 1];
    if (!map.json.is_object() || count % 2 != 0) fail("pairs are added to what is no dictionary");
    for (std::size_t i = stack_.size() - count; i < stack_.size(); i += 2) {
      if (!stack_[i].json.is_string()) fail("a key is no text");
      deepen(map, stack_[i + 1]);
      map.json[stack_[i].json.get_ref<const std::string&>()] = std::move(stack_[i + 1].json);
    }
    stack_.resize(stack_.size() - count);
  }

  void remember(std::uint32_t place) {
    need(1);
    if (!stack_.back().json.is_string()) return;
    const std::string& text = stack_.back().json.get_ref<const std::string&>();
    // Python remembers each text of the file once.
    remembered_ += text.size();
    if (remembered_ > bytes_.size()) fail("it remembers more text than it has");
    memo_[place] = text;
  }
  void recall(std::uint32_t place) {
    const auto found = memo_.find(place);
    if (found == memo_.end()) fail("it refers to what is no text before it");
    recalled_ += found->second.size();
    if (recalled_ > kMostRecalledBytes) fail("it repeats more than 64 MB of text");
    push(found->second);
  }

  std::string_view bytes_;
  const std::string& origin_;
  std::size_t at_ = 0;
  std::size_t opcode_at_ = 0;
  std::vector<Value> stack_;
  std::vector<std::size_t> marks_;
  std::unordered_map<std::uint32_t, std::string> memo_;
  std::size_t remembered_ = 0;
  std::size_t recalled_ = 0;
};

}  // namespace

nlohmann::json read_pickle(std::string_view bytes, const std::string& origin) {
  return PickleReader(bytes, origin).read();
}

}  // namespace ddbench::imports
