#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace ddbench::reports::chakra {

/// NodeType of et_def.proto.
enum class NodeType : std::uint8_t { kCompute = 4, kCollective = 7 };

/// The fields of a message of Protocol Buffers, one after the other; encoded by libprotobuf.
class Message {
 public:
  void text(int field, std::string_view value);
  void number(int field, std::uint64_t value);
  void numbers(int field, std::span<const std::uint64_t> values);  ///< packed
  void message(int field, const Message& value);

  // AttributeProto of et_def.proto, as a repeated field of this one.
  void attribute(int field, std::string_view name, std::int64_t value);
  void attribute(int field, std::string_view name, bool value);
  void attribute(int field, std::string_view name, std::string_view value);
  void attribute(int field, std::string_view name, const char* value) { attribute(field, name, std::string_view(value)); }

  /// Preceded by its length, because a file holds several messages.
  std::string delimited() const;

 private:
  template <typename Write>
  void write(const Write& write);

  std::string bytes_;
};

}  // namespace ddbench::reports::chakra
