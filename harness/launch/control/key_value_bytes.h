#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "harness/launch/control/messages.h"

/// The messages of the rendezvous as bytes; numbers are little-endian. A message of another kind begins with 0 or "{".
///   KvSet    1, length of the key (2 bytes), key, value
///   KvValue  2, id (8), value
///   KvParts  3, id (8), number of parts (4), and for each its length (4) and bytes
namespace ddbench::launch {

/// Nothing for any other message.
std::optional<std::string> encode_key_value(const Message& message);

/// Nothing for a payload that is none of these; throws Error{kRunFailed} for one that is cut short or says impossible things.
std::optional<Message> decode_key_value(std::string_view payload);

}  // namespace ddbench::launch
