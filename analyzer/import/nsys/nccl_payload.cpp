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

/// Nothing where the field is not known, or does not lie within the bytes.
template <typename Integer>
std::optional<Integer> field_at(std::span<const std::byte> bytes, std::optional<std::size_t> offset) {
  if (!offset || *offset + sizeof(Integer) > bytes.size()) return std::nullopt;
  return at<Integer>(bytes, *offset);
}

}  // namespace

NcclPayloads::NcclPayloads(const NsysExport& from) {
  if (!from.has("NVTX_PAYLOAD_SCHEMA_ENTRIES", "offset") || !from.has("NVTX_EVENTS", "binaryData")) return;
  from.each("SELECT domainId, schemaId, name, offset FROM NVTX_PAYLOAD_SCHEMA_ENTRIES", [&](const store::Statement& row) {
    std::int64_t domain = 0, schema = 0, offset = 0;
    std::string name;
    row.read(domain, schema, name, offset);
    if (offset < 0 || offset > 4096) return;
    const auto place = [&](std::optional<std::size_t> Places::*field) {
      places_[{domain, schema}].*field = static_cast<std::size_t>(offset);
    };
    if (name == "NCCL communicator ID") place(&Places::communicator);
    if (name == "No. of ranks") place(&Places::ranks);
    if (name == "Rank") place(&Places::rank);
    if (name == "Message size [bytes]") place(&Places::bytes);
  });
}

NcclPayload NcclPayloads::read(std::span<const std::byte> bytes) const {
  NcclPayload payload;
  if (bytes.size() < kPayloadHeaderBytes) return payload;
  const auto places = places_.find({at<std::uint32_t>(bytes, 0), at<std::uint32_t>(bytes, 8)});
  if (places == places_.end()) return payload;
  const std::span<const std::byte> fields = bytes.subspan(kPayloadHeaderBytes);
  payload.communicator = field_at<std::uint64_t>(fields, places->second.communicator);
  payload.ranks = field_at<std::int32_t>(fields, places->second.ranks);
  payload.rank = field_at<std::int32_t>(fields, places->second.rank);
  payload.bytes = field_at<std::uint64_t>(fields, places->second.bytes);
  return payload;
}

}  // namespace ddbench::imports
