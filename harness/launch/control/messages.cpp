#include "harness/launch/control/messages.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <type_traits>
#include <utility>

#include "harness/launch/control/key_value_bytes.h"
#include "harness/launch/control/message_fields.h"
#include "harness/launch/control/message_limits.h"
#include "harness/launch/control/packed_bytes.h"

namespace ddbench::launch {
namespace {

using Json = nlohmann::json;

constexpr std::string_view kHexDigits = "0123456789abcdef";

[[noreturn]] void refuse_message(const std::string& why) {
  throw Error(ErrorCode::kRunFailed, fmt::format("a control message is not understood: {}", why), 0,
              "control channel");
}

std::string to_hex(const collective::Bytes& bytes) {
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const char byte : bytes) {
    const auto value = static_cast<unsigned char>(byte);
    text += {kHexDigits[value >> 4], kHexDigits[value & 15]};
  }
  return text;
}

collective::Bytes from_hex(const std::string& text) {
  if (text.size() % 2 != 0) refuse_message("bytes have an odd number of digits");
  collective::Bytes bytes;
  bytes.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const std::size_t high = kHexDigits.find(text[i]);
    const std::size_t low = kHexDigits.find(text[i + 1]);
    if (high == std::string_view::npos || low == std::string_view::npos)
      refuse_message("bytes are not hexadecimal");
    bytes.push_back(static_cast<char>(high << 4 | low));
  }
  return bytes;
}

// JSON has no infinities and no NaN, and a diverged loss is one of them.
Json number(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}

/// Writes the fields of a message into a JSON object.
class Writer {
 public:
  template <typename T>
  void operator()(const char* key, const T& value) {
    json_[key] = plain(value);
  }
  Json take() { return std::move(json_); }

 private:
  template <typename T>
  static Json plain(const T& value) {
    if constexpr (std::is_same_v<T, double>) {
      return number(value);
    } else if constexpr (std::is_same_v<T, collective::Bytes>) {
      return to_hex(value);
    } else if constexpr (std::is_same_v<T, std::vector<StepWindow>>) {
      Json windows = Json::array();
      for (const StepWindow& each : value)
        windows.push_back({each.steps, each.time_ns, each.pairs, number(each.log_ratio)});
      return windows;
    } else if constexpr (std::is_same_v<T, RunCase>) {
      return to_json(value);
    } else if constexpr (std::is_enum_v<T>) {
      return static_cast<int>(value);
    } else {
      return value;
    }
  }
  Json json_ = Json::object();
};

/// Reads the fields of a message from a JSON object; every type and range is checked here.
class Reader {
 public:
  explicit Reader(const Json& json) : json_(json) {}

  template <typename T>
  void operator()(const char* key, T& value) const {
    const auto entry = json_.find(key);
    if (entry == json_.end()) refuse_message(fmt::format("\"{}\" is missing", key));
    if (!read(*entry, value)) refuse_message(fmt::format("\"{}\" has a value that is not allowed", key));
  }

 private:
  static bool read(const Json& json, std::string& value) {
    if (!json.is_string()) return false;
    value = json.get<std::string>();
    return true;
  }
  static bool read(const Json& json, bool& value) {
    if (!json.is_boolean()) return false;
    value = json.get<bool>();
    return true;
  }
  static bool read(const Json& json, double& value) {
    if (json.is_number()) {
      value = json.get<double>();
      return true;
    }
    if (json == "nan")
      value = std::numeric_limits<double>::quiet_NaN();
    else if (json == "inf")
      value = std::numeric_limits<double>::infinity();
    else if (json == "-inf")
      value = -std::numeric_limits<double>::infinity();
    else
      return false;
    return true;
  }
  static bool read(const Json& json, collective::Bytes& value) {
    if (!json.is_string()) return false;
    value = from_hex(json.get<std::string>());
    return true;
  }
  static bool read(const Json& json, RunCase& value) {
    if (!json.is_string()) return false;
    value = run_case_from_json(json.get<std::string>());
    return true;
  }
  static bool read(const Json& json, std::map<std::string, std::string>& value) {
    if (!json.is_object() || !all_texts(json)) return false;
    value = json.get<std::map<std::string, std::string>>();
    return true;
  }
  static bool read(const Json& json, std::vector<std::string>& value) {
    if (!json.is_array() || !all_texts(json)) return false;
    value = json.get<std::vector<std::string>>();
    return true;
  }
  static bool read(const Json& json, std::vector<StepWindow>& values) {
    if (!json.is_array() || json.size() > StepTimes::kMostWindows) return false;
    return std::all_of(json.begin(), json.end(), [&](const Json& each) {
      StepWindow& window = values.emplace_back();
      return each.is_array() && each.size() == 4 && read(each[0], window.steps) && read(each[1], window.time_ns) &&
             read(each[2], window.pairs) && read(each[3], window.log_ratio);
    });
  }
  static bool read(const Json& json, ddp::LongWork& value) {
    int work = 0;
    if (!read(json, work) || work < 0 || work >= ddp::kLongWorks) return false;
    value = static_cast<ddp::LongWork>(work);
    return true;
  }
  static bool read(const Json& json, ErrorCode& value) {
    int code = 0;
    if (!read(json, code)) return false;
    value = static_cast<ErrorCode>(code);
    switch (value) {
      case ErrorCode::kRunFailed:
      case ErrorCode::kBadInput:
      case ErrorCode::kRegression:
      case ErrorCode::kNoVerdict:
      case ErrorCode::kEnvironment:
      case ErrorCode::kInterrupted: return true;
    }
    return false;
  }
  template <typename T>
  requires(std::is_integral_v<T>) static bool read(const Json& json, T& value) {
    if (json.is_number_unsigned()) {
      const auto wide = json.get<std::uint64_t>();
      value = static_cast<T>(wide);
      return std::in_range<T>(wide);
    }
    if (!json.is_number_integer()) return false;
    const auto wide = json.get<std::int64_t>();
    value = static_cast<T>(wide);
    return std::in_range<T>(wide);
  }

  static bool all_texts(const Json& json) {
    return std::all_of(json.begin(), json.end(), [](const Json& each) { return each.is_string(); });
  }

  const Json& json_;
};

constexpr const char* kTypes[] = {"hello",     "ready",   "heartbeat",  "kv_set",     "kv_get",
                                  "ping",      "clock_read", "step_times", "result",  "failure",    "file_chunk", "holding",
                                  "inventory", "counted", "flight",     "own_time", "kv_gather", "assignment", "kv_value", "kv_parts", "pong",
                                  "stop",      "hold",    "last_step",  "flight_request", "finish",
                                  "turn",      "turns_end"};
static_assert(std::size(kTypes) == std::variant_size_v<Message>);

template <std::size_t I = 0>
Message decode_as(const std::string& type, const Json& json) {
  if constexpr (I == std::variant_size_v<Message>) {
    refuse_message(fmt::format("type \"{}\" is unknown", type));
  } else {
    if (type != kTypes[I] || IsBinary<std::variant_alternative_t<I, Message>>) return decode_as<I + 1>(type, json);
    std::variant_alternative_t<I, Message> message;
    visit(message, Reader(json));
    if (const std::string why = why_impossible(message); !why.empty()) refuse_message(why);
    return message;
  }
}

std::string encode_chunk(const FileChunk& chunk) {
  if (chunk.name.size() > 255) refuse_message("the name of a file is too long");
  std::string payload{'\0', static_cast<char>(chunk.name.size())};
  return payload + chunk.name + pack(chunk.bytes);
}

FileChunk decode_chunk(std::string_view payload) {
  const std::size_t length = payload.empty() ? 0 : static_cast<unsigned char>(payload.front());
  if (payload.size() < 1 + length) refuse_message("a piece of a file is cut short");
  const std::string_view packed = payload.substr(1 + length);
  return {std::string(payload.substr(1, length)), unpack(packed, FileChunk::kMostBytes), packed.size()};
}

}  // namespace

std::string encode(const Message& message) {
  if (const auto* chunk = std::get_if<FileChunk>(&message)) return encode_chunk(*chunk);
  if (std::optional<std::string> bytes = encode_key_value(message)) return *std::move(bytes);
  Writer writer;
  writer("type", std::string(kTypes[message.index()]));
  std::visit([&](const auto& alternative) { visit(alternative, writer); }, message);
  return writer.take().dump(-1, ' ', false, Json::error_handler_t::replace);
}

Message decode(std::string_view payload) {
  if (payload.starts_with('\0')) return decode_chunk(payload.substr(1));
  if (std::optional<Message> message = decode_key_value(payload)) return *std::move(message);
  const Json json = Json::parse(payload, nullptr, false);
  if (!json.is_object()) refuse_message("it is no JSON object");
  const auto type = json.find("type");
  if (type == json.end() || !type->is_string()) refuse_message("it has no type");
  return decode_as(type->get<std::string>(), json);
}

}  // namespace ddbench::launch
