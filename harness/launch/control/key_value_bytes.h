#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/launch/control/messages.h"

/// The messages of the rendezvous as bytes; numbers are little-endian. A message of another kind begins with 0 or "{".
///   KvSet    1, length of the key (2 bytes), key, value
///   KvValue  2, id (8), value
///   KvParts  3, id (8), length of the error (4), error, and what encode_parts() makes of the parts
namespace ddbench::launch {

/// The number of parts (4), and for each its length (4) and bytes; packed (packed_bytes.h): lists of hosts have much in common.
std::string encode_parts(const std::vector<collective::Bytes>& parts);
/// Of a received message. Throws Error{kRunFailed} for what encode_parts could not have made, and for more than 32 MiB.
std::vector<collective::Bytes> parts_of(const KvParts& received);

/// Nothing for any other message.
std::optional<std::string> encode_key_value(const Message& message);

/// Nothing for a payload that is none of these; throws Error{kRunFailed} for one that is cut short or says impossible things.
std::optional<Message> decode_key_value(std::string_view payload);

}  // namespace ddbench::launch
