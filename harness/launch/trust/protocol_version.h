#pragma once

namespace ddbench::launch {

/// Of the handshake, the frames and the messages of the control channel.
inline constexpr int kProtocolVersion = 8;

}  // namespace ddbench::launch
