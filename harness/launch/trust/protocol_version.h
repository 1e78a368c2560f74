#pragma once

namespace ddbench::launch {

/// The version of the handshake, the frames and the messages of the control channel.
inline constexpr int kProtocolVersion = 14;

}  // namespace ddbench::launch
