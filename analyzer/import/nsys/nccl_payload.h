#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "analyzer/import/nsys/export_file.h"

namespace ddbench::imports {

/// The content of a payload of NCCL's NVTX ranges.
struct NcclPayload {
  std::optional<std::uint64_t> communicator;
  std::optional<std::int64_t> ranks;   ///< of the communicator, when it is made
  std::optional<std::int64_t> rank;    ///< in the communicator, when it is made
  std::optional<std::uint64_t> bytes;  ///< "Message size"
};

/// Reads NVTX_EVENTS.binaryData, which exports with blobs have. It is 32 bytes of header (domain, schema, each with 4 more
/// bytes; then the payload's size, and that with the header), and the fields that NVTX_PAYLOAD_SCHEMA_ENTRIES places in what
/// follows; all in little-endian order. Source of the layout: the reader of nsys-ai (MIT), which checked it against exports
/// of Nsight Systems 2026; NVIDIA documents only the schemas' tables.
class NcclPayloads {
 public:
  /// Without the tables no payload can be read.
  explicit NcclPayloads(const NsysExport& from);

  /// Fields that are not there, or do not lie within the bytes, stay empty.
  NcclPayload read(std::span<const std::byte> bytes) const;

 private:
  /// Where the fields of a schema lie.
  struct Places {
    std::optional<std::size_t> communicator;
    std::optional<std::size_t> ranks;
    std::optional<std::size_t> rank;
    std::optional<std::size_t> bytes;
  };
  std::map<std::pair<std::int64_t, std::int64_t>, Places> places_;  ///< by domain and schema
};

}  // namespace ddbench::imports
