#include "reports/formats/chakra/messages.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <google/protobuf/wire_format_lite.h>

namespace ddbench::reports::chakra {
namespace {

using google::protobuf::internal::WireFormatLite;
using google::protobuf::io::CodedOutputStream;

// AttributeProto
constexpr int kName = 1;
constexpr int kInt64 = 9;
constexpr int kBool = 27;
constexpr int kText = 29;

}  // namespace

template <typename Write>
void Message::write(const Write& write) {
  google::protobuf::io::StringOutputStream stream(&bytes_);  // appends
  CodedOutputStream out(&stream);
  write(out);
}

void Message::text(int field, std::string_view value) {
  write([&](CodedOutputStream& out) { WireFormatLite::WriteBytes(field, std::string(value), &out); });
}

void Message::number(int field, std::uint64_t value) {
  write([&](CodedOutputStream& out) { WireFormatLite::WriteUInt64(field, value, &out); });
}

void Message::numbers(int field, std::span<const std::uint64_t> values) {
  if (values.empty()) return;
  Message packed;
  packed.write([&](CodedOutputStream& out) {
    for (const std::uint64_t value : values) out.WriteVarint64(value);
  });
  message(field, packed);
}

void Message::message(int field, const Message& value) {
  write([&](CodedOutputStream& out) { WireFormatLite::WriteBytes(field, value.bytes_, &out); });
}

void Message::attribute(int field, std::string_view name, std::int64_t value) {
  Message attribute;
  attribute.text(kName, name);
  attribute.write([&](CodedOutputStream& out) { WireFormatLite::WriteInt64(kInt64, value, &out); });
  message(field, attribute);
}

void Message::attribute(int field, std::string_view name, bool value) {
  Message attribute;
  attribute.text(kName, name);
  attribute.write([&](CodedOutputStream& out) { WireFormatLite::WriteBool(kBool, value, &out); });
  message(field, attribute);
}

void Message::attribute(int field, std::string_view name, std::string_view value) {
  Message attribute;
  attribute.text(kName, name);
  attribute.text(kText, value);
  message(field, attribute);
}

std::string Message::delimited() const {
  Message length;
  length.write([&](CodedOutputStream& out) { out.WriteVarint64(bytes_.size()); });
  return length.bytes_ + bytes_;
}

}  // namespace ddbench::reports::chakra
