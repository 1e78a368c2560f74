#include "analyzer/import/nsys/nccl_payload.h"

#include <bit>
#include <cstring>
#include <string_view>

namespace ddbench::imports {
namespace {

static_assert(std::endian::native == std::endian::little);

constexpr std::size_t kPayloadHeaderBytes = 32;

template <typename Integer>
Integer at(std::span<const std::byte> bytes, std::size_t offset) {
  Integer value = 0;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

}  // namespace

NcclPayloads::NcclPayloads(const NsysExport& from) {
  if (!from.has("NVTX_PAYLOAD_SCHEMA_ENTRIES", "offset") || !from.has("NVTX_EVENTS", "binaryData")) return;
  from.each("SELECT domainId, schemaId, name, offset FROM NVTX_PAYLOAD_SCHEMA_ENTRIES", [&](const store::Statement& row) {
    std::int64_t domain = 0, schema = 0, offset = 0;
    std::string name;
    row.read(domain, schema, name, offset);
    if (offset < 0 || offset > 4096) return;
    const auto place = [&](Field field, std::size_t size) {
      places_.insert({{domain, schema}, {field, static_cast<std::size_t>(offset), size}});
    };
    if (name == "NCCL communicator ID") place(Field::kCommunicator, 8);
    if (name == "No. of ranks") place(Field::kRanks, 4);
    if (name == "Rank") place(Field::kRank, 4);
    if (name == "Message size [bytes]") place(Field::kBytes, 8);
  });
}

NcclPayload NcclPayloads::read(std::span<const std::byte> bytes) const {
  NcclPayload payload;
  if (bytes.size() < kPayloadHeaderBytes) return payload;
  const auto [first, last] = places_.equal_range({at<std::uint32_t>(bytes, 0), at<std::uint32_t>(bytes, 8)});
  const std::span<const std::byte> fields = bytes.subspan(kPayloadHeaderBytes);
  for (auto place = first; place != last; ++place) {
    const auto& [field, offset, size] = place->second;
    if (offset + size > fields.size()) continue;
    switch (field) {
      case Field::kCommunicator: payload.communicator = at<std::uint64_t>(fields, offset); break;
      case Field::kRanks: payload.ranks = at<std::int32_t>(fields, offset); break;
      case Field::kRank: payload.rank = at<std::int32_t>(fields, offset); break;
      case Field::kBytes: payload.bytes = at<std::uint64_t>(fields, offset); break;
    }
  }
  return payload;
}

}  // namespace ddbench::imports
