#pragma once

namespace ddbench::launch {

/// Of the handshake, the frames and the messages of the control channel.
inline constexpr int kProtocolVersion = 7;

}  // namespace ddbench::launch
