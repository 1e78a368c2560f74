#include "harness/launch/control/key_value_bytes.h"

#include <cstdint>
#include <memory>

#include "core/error.h"
#include "harness/launch/control/packed_bytes.h"

namespace ddbench::launch {
namespace {

constexpr char kSet = 1;
constexpr char kValue = 2;
constexpr char kParts = 3;
constexpr std::size_t kMostPartsBytes = std::size_t{32} << 20;  // unpacked

template <typename Integer>
void put(std::string& out, Integer value) {
  for (std::size_t byte = 0; byte < sizeof value; ++byte) out += static_cast<char>(value >> (8 * byte) & 0xff);
}
void put(std::string& out, const collective::Bytes& bytes) {
  out.append(bytes.data(), bytes.size());
}

/// Takes values off the front of a payload.
class ByteReader {
 public:
  explicit ByteReader(std::string_view rest) : rest_(rest) {}

  template <typename Integer>
  Integer integer() {
    const std::string_view bytes = take(sizeof(Integer));
    Integer value = 0;
    for (std::size_t byte = 0; byte < sizeof value; ++byte)
      value = static_cast<Integer>(value | static_cast<Integer>(static_cast<unsigned char>(bytes[byte])) << (8 * byte));
    return value;
  }
  std::string_view take(std::size_t bytes) {
    if (rest_.size() < bytes) refuse("it is cut short");
    const std::string_view taken = rest_.substr(0, bytes);
    rest_.remove_prefix(bytes);
    return taken;
  }
  std::string_view rest() { return take(rest_.size()); }
  bool at_end() const noexcept { return rest_.empty(); }
  std::size_t left() const noexcept { return rest_.size(); }

  [[noreturn]] static void refuse(const char* why) {
    throw Error(ErrorCode::kRunFailed, std::string("a control message of the rendezvous is not understood: ") + why, 0,
                "control channel");
  }

 private:
  std::string_view rest_;
};

collective::Bytes bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}

std::string encode(const KvSet& entry) {
  std::string out(1, kSet);
  if (entry.key.size() > 0xffff) ByteReader::refuse("its key is too long");
  put(out, static_cast<std::uint16_t>(entry.key.size()));
  out += entry.key;
  put(out, entry.value);
  return out;
}

std::string encode(const KvParts& gathered) {
  std::string out(1, kParts);
  put(out, gathered.id);
  put(out, static_cast<std::uint32_t>(gathered.error.size()));
  out += gathered.error;
  return out + (gathered.encoded ? *gathered.encoded : encode_parts(gathered.parts));
}

KvParts decode_parts(ByteReader reader) {
  KvParts gathered;
  gathered.id = reader.integer<std::uint64_t>();
  gathered.error = reader.take(reader.integer<std::uint32_t>());
  gathered.encoded = std::make_shared<const std::string>(reader.rest());
  return gathered;
}

}  // namespace

std::string encode_parts(const std::vector<collective::Bytes>& parts) {
  std::string plain;
  put(plain, static_cast<std::uint32_t>(parts.size()));
  for (const collective::Bytes& part : parts) {
    put(plain, static_cast<std::uint32_t>(part.size()));
    put(plain, part);
  }
  return pack(bytes_of(plain));
}

std::vector<collective::Bytes> parts_of(const KvParts& received) {
  if (!received.encoded) ByteReader::refuse("it has no parts");
  const collective::Bytes unpacked = unpack(*received.encoded, kMostPartsBytes);
  ByteReader reader({unpacked.data(), unpacked.size()});
  const auto count = reader.integer<std::uint32_t>();
  // Each has its length at least: no memory is taken for what is not there.
  if (count > KvGather::kMostParts || count > reader.left() / sizeof(std::uint32_t)) ByteReader::refuse("it has too many parts");
  std::vector<collective::Bytes> parts;
  parts.reserve(count);
  for (std::uint32_t part = 0; part < count; ++part) parts.push_back(bytes_of(reader.take(reader.integer<std::uint32_t>())));
  if (!reader.at_end()) ByteReader::refuse("something follows its parts");
  return parts;
}

std::optional<std::string> encode_key_value(const Message& message) {
  if (const auto* entry = std::get_if<KvSet>(&message)) return encode(*entry);
  if (const auto* gathered = std::get_if<KvParts>(&message)) return encode(*gathered);
  const auto* value = std::get_if<KvValue>(&message);
  if (value == nullptr) return std::nullopt;
  std::string out(1, kValue);
  put(out, value->id);
  put(out, value->value);
  return out;
}

std::optional<Message> decode_key_value(std::string_view payload) {
  if (payload.empty()) return std::nullopt;
  ByteReader reader(payload.substr(1));
  if (payload.front() == kParts) return decode_parts(reader);
  if (payload.front() == kValue) {
    const auto id = reader.integer<std::uint64_t>();
    return KvValue{id, bytes_of(reader.rest())};
  }
  if (payload.front() != kSet) return std::nullopt;
  const auto length = reader.integer<std::uint16_t>();
  std::string key(reader.take(length));
  return KvSet{std::move(key), bytes_of(reader.rest())};
}

}  // namespace ddbench::launch
