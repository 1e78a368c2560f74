#include "harness/launch/control/fabric_messages.h"

#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace ddbench::launch {
namespace {

struct EventHeader {
  FabricEvent::Kind kind{};
  std::int32_t rank = 0;
  std::int32_t value = 0;
};
constexpr std::size_t kMostText = 4096;

void send_packet(int socket, const void* data, std::size_t size) {
  while (::send(socket, data, size, MSG_NOSIGNAL) < 0 && errno == EINTR) {
  }
}

/// Bytes received; 0 when there was none.
std::size_t receive_packet(int socket, void* data, std::size_t size, bool& gone) {
  ssize_t count = 0;
  do {
    count = ::recv(socket, data, size, MSG_DONTWAIT);
  } while (count < 0 && errno == EINTR);
  if (count == 0 || (count < 0 && errno != EAGAIN && errno != EWOULDBLOCK)) gone = true;
  return count > 0 ? static_cast<std::size_t>(count) : 0;
}

}  // namespace

void send(int socket, const FabricEvent& event) {
  std::array<char, sizeof(EventHeader) + kMostText> packet;
  const EventHeader header{event.kind, event.rank, event.value};
  const std::size_t length = std::min(event.text.size(), kMostText);
  std::memcpy(packet.data(), &header, sizeof header);
  std::memcpy(packet.data() + sizeof header, event.text.data(), length);
  send_packet(socket, packet.data(), sizeof header + length);
}

void send(int socket, const FabricCommand& command) {
  send_packet(socket, &command, sizeof command);
}

std::optional<FabricEvent> receive_event(int socket, bool& gone) {
  std::array<char, sizeof(EventHeader) + kMostText> packet;
  const std::size_t count = receive_packet(socket, packet.data(), packet.size(), gone);
  if (count < sizeof(EventHeader)) return std::nullopt;
  EventHeader header;
  std::memcpy(&header, packet.data(), sizeof header);
  return FabricEvent{header.kind, header.rank, header.value,
                     std::string(packet.data() + sizeof header, count - sizeof header)};
}

std::optional<FabricCommand> receive_command(int socket, bool& gone) {
  FabricCommand command;
  if (receive_packet(socket, &command, sizeof command, gone) != sizeof command) return std::nullopt;
  return command;
}

}  // namespace ddbench::launch
