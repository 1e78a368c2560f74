#include "analyzer/import/kineto/event_parser.h"

#include <fmt/format.h>
#include <simdjson.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "core/error.h"
#include "core/text/number.h"
#include "core/text/text_hash.h"

namespace ddbench::imports {
namespace {

namespace ondemand = simdjson::ondemand;

constexpr std::int64_t kMost_ns = std::int64_t{1} << 61;

/// Throws simdjson_error.
template <typename Value, typename Result>
Value taken(Result& result) {
  Value value;
  if (const simdjson::error_code error = std::move(result).get(value)) throw simdjson::simdjson_error(error);
  return value;
}

std::string_view key_of(ondemand::field& field) {
  const char* const text = field.key().raw();
  return {text, static_cast<std::size_t>(static_cast<const char*>(std::strchr(text, '"')) - text)};
}

/// A number's characters, without what follows.
std::string_view token_of(ondemand::value& value) {
  std::string_view token = value.raw_json_token();
  while (!token.empty() && static_cast<unsigned char>(token.back()) <= ' ') token.remove_suffix(1);
  return token;
}

std::string_view text_of(ondemand::value& value) {
  std::string_view text;
  return value.get_string().get(text) == simdjson::SUCCESS ? text : std::string_view();
}

/// Numbers come as texts, too.
template <typename Number>
std::optional<Number> number_of(ondemand::value& value) {
  std::string_view token = token_of(value);
  if (token.size() >= 2 && token.front() == '"') token = token.substr(1, token.find('"', 1) - 1);
  return number_from<Number>(token);
}

std::int64_t thread_of(ondemand::value& value) {
  const std::string_view token = token_of(value);
  if (const auto number = number_from<std::int64_t>(token)) return *number;
  return static_cast<std::int64_t>(hash_text(token) | (std::uint64_t{1} << 63));
}

/// The first tensor's extents multiplied: [[64, 256], ...].
std::uint64_t first_elements(ondemand::value& value) {
  ondemand::array tensors;
  if (value.get_array().get(tensors) != simdjson::SUCCESS) return 0;
  std::uint64_t elements = 0;
  for (auto tensor : tensors) {
    ondemand::array extents;
    if (elements != 0 || tensor.get_array().get(extents) != simdjson::SUCCESS) continue;
    std::uint64_t product = 1;
    bool any = false;
    for (auto extent : extents) {
      std::uint64_t length = 0;
      any = true;
      if (extent.get_uint64().get(length) != simdjson::SUCCESS || __builtin_mul_overflow(product, length, &product))
        product = 0;
    }
    if (any) elements = product;
  }
  return elements;
}

std::string_view first_text(ondemand::value& value) {
  ondemand::array texts;
  if (value.get_array().get(texts) != simdjson::SUCCESS) return {};
  std::string_view first;
  for (auto item : texts) {
    std::string_view text;
    if (item.get_string().get(text) == simdjson::SUCCESS && first.empty()) first = text;
  }
  return first;
}

bool read_collective_argument(std::string_view key, ondemand::value& value, CollectiveArguments& arguments) {
  if (key == "Collective name") return arguments.name = text_of(value), true;
  if (key == "dtype") return arguments.dtype = text_of(value), true;
  if (key == "In msg nelems") return arguments.in_elements = number_of<std::uint64_t>(value).value_or(0), true;
  if (key == "Out msg nelems") return arguments.out_elements = number_of<std::uint64_t>(value).value_or(0), true;
  if (key == "Process Group Name") return arguments.group = text_of(value), true;
  if (key == "Process Group Ranks") return arguments.group_ranks = text_of(value), true;
  if (key == "Group size") return arguments.group_size = number_of<int>(value).value_or(0), true;
  if (key == "Seq") return arguments.sequence = number_of<std::uint64_t>(value), true;
  return false;
}

void read_arguments(ondemand::value& value, TraceEvent& event) {
  ondemand::object arguments;
  if (value.get_object().get(arguments) != simdjson::SUCCESS) return;
  for (auto result : arguments) {
    ondemand::field field = taken<ondemand::field>(result);
    const std::string_view key = key_of(field);
    ondemand::value& argument = field.value();
    if (key == "correlation") {
      event.correlation = number_of<std::uint64_t>(argument);
    } else if (key == "Sequence number") {
      event.autograd_sequence = number_of<std::uint64_t>(argument);
    } else if (key == "Fwd thread id") {
      event.is_backward = number_of<std::uint64_t>(argument).value_or(0) > 0;
    } else if (key == "device") {
      event.device = number_of<std::int64_t>(argument).value_or(-1);
    } else if (key == "stream") {
      event.stream = number_of<std::int64_t>(argument).value_or(-1);
    } else if (key == "bytes") {
      event.bytes = number_of<std::uint64_t>(argument).value_or(0);
    } else if (key == "Input Dims") {
      event.first_elements = first_elements(argument);
    } else if (key == "Input type") {
      event.first_type = first_text(argument);
    } else {
      read_collective_argument(key, argument, event.collective);
    }
  }
}

}  // namespace

std::optional<std::int64_t> nanoseconds_of_microseconds(std::string_view text) noexcept {
  const bool is_negative = text.starts_with('-');
  const std::string_view digits = is_negative ? text.substr(1) : text;
  const auto whole = leading_number<std::int64_t>(digits);
  if (!whole || whole->value < 0 || whole->value > kMost_ns / 1000) return std::nullopt;
  std::int64_t ns = whole->value * 1000;
  std::string_view rest = whole->rest;
  if (rest.starts_with('.')) {
    rest.remove_prefix(1);
    std::int64_t unit = 100;
    for (; !rest.empty() && rest.front() >= '0' && rest.front() <= '9'; rest.remove_prefix(1), unit /= 10) {
      ns += unit * (rest.front() - '0');
    }
  }
  if (!rest.empty()) {  // "1.6e15"
    const auto number = number_from<double>(text);
    if (!number || !(std::abs(*number) < static_cast<double>(kMost_ns) / 1000)) return std::nullopt;
    return static_cast<std::int64_t>(std::llround(*number * 1000));
  }
  return is_negative ? -ns : ns;
}

class EventParser::Impl {
 public:
  explicit Impl(std::filesystem::path file) : file_(std::move(file)) {}

  [[noreturn]] void fail(std::uint64_t offset, std::string_view why) const {
    throw Error(ErrorCode::kBadInput, fmt::format("{}, byte {}: {}", file_.string(), offset, why), 0, file_.string());
  }

  /// False: it is none that counts.
  bool read(ondemand::object& object, TraceEvent& event, std::uint64_t offset) const {
    std::optional<std::int64_t> begin_ns;
    std::optional<std::int64_t> length_ns;
    bool is_complete = false;
    for (auto result : object) {
      ondemand::field field = taken<ondemand::field>(result);
      const std::string_view key = key_of(field);
      ondemand::value& value = field.value();
      if (key == "ph") {
        is_complete = text_of(value) == "X";
        if (!is_complete) return false;
      } else if (key == "cat") {
        event.category = text_of(value);
        if (event.category == "python_function") return false;
      } else if (key == "name") {
        event.name = text_of(value);
      } else if (key == "tid") {
        event.thread = thread_of(value);
      } else if (key == "ts") {
        begin_ns = time_of(value, "ts", offset);
      } else if (key == "dur") {
        length_ns = time_of(value, "dur", offset);
      } else if (key == "args") {
        read_arguments(value, event);
      }
    }
    if (!is_complete) return false;
    if (!begin_ns || !length_ns) fail(offset, fmt::format("the event {} has no {}", event.name, begin_ns ? "dur" : "ts"));
    if (*length_ns < 0) fail(offset, fmt::format("the event {} takes {} ns", event.name, *length_ns));
    event.begin_ns = *begin_ns;
    event.end_ns = *begin_ns + *length_ns;
    return true;
  }

  simdjson::ondemand::parser parser_;

 private:
  std::int64_t time_of(ondemand::value& value, std::string_view what, std::uint64_t offset) const {
    const std::string_view token = token_of(value);
    if (const auto ns = nanoseconds_of_microseconds(token)) return *ns;
    fail(offset, fmt::format("{} of an event is {}, which is no time in microseconds", what, token.substr(0, 40)));
  }

  std::filesystem::path file_;
};

EventParser::EventParser(std::filesystem::path file) : impl_(std::make_unique<Impl>(std::move(file))) {}
EventParser::~EventParser() = default;
EventParser::EventParser(EventParser&&) noexcept = default;

WindowRead EventParser::parse_piece(const JsonPiece& piece, void (*call)(const void* to, const TraceEvent& event),
                                    const void* take) {
  WindowRead read;
  try {
    ondemand::document document =
        impl_->parser_.iterate(simdjson::padded_string_view(piece.text.data(), piece.text.size(), piece.readable));
    const auto here = [&] { return static_cast<std::size_t>(document.current_location() - piece.text.data()); };
    for (auto element : document.get_array()) {
      ondemand::object object = element.get_object();
      read = {piece.text.rfind('{', here() - 1), false};
      TraceEvent event;
      if (!impl_->read(object, event, piece.offset + read.to)) continue;
      const WindowRead behind{piece.is_window ? here() : read.to, true};
      call(take, event);
      read = behind;
    }
  } catch (const simdjson::simdjson_error& error) {
    if (!piece.is_window)
      impl_->fail(piece.offset + read.to, fmt::format("this is no event in JSON, or follows one that is not whole ({})", error.what()));
  } catch (const Error&) {
    if (!piece.is_window) throw;
  }
  return read;
}

}  // namespace ddbench::imports
