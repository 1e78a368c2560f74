#pragma once

namespace ddbench::launch {

/// The version of the handshake, the frames and the messages of the control channel.
inline constexpr int kProtocolVersion = 13;

}  // namespace ddbench::launch
