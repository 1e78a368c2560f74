#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ddbench::launch {

/// The reports of the fabric's processes to the launcher, one packet each on a SOCK_SEQPACKET pair.
struct FabricEvent {
  enum class Kind : std::int32_t {
    kFact,        ///< text: "key=value"
    kReady,       ///< the network is up
    kFailed,      ///< the network could not be set up: text
    kStarted,     ///< rank runs; value: its process id as the host counts
    kExecFailed,  ///< rank could not be executed; value: errno
    kExited,      ///< rank ended; value: its wait status
    kEnded,       ///< what had started the ranks has ended, and why: text
    kFinished,    ///< answer to kFinish: all facts have been sent, no rank is left
  };
  Kind kind = Kind::kFact;
  std::int32_t rank = -1;
  std::int32_t value = 0;
  std::string text;
};

/// The requests of the launcher to the fabric.
struct FabricCommand {
  enum class Kind : std::int32_t {
    kLaunch,  ///< start the ranks
    kKill,    ///< send SIGKILL to a rank, if it lives
    kFinish,  ///< report what the links carried, kill what is left, and end
  };
  Kind kind = Kind::kLaunch;
  std::int32_t rank = -1;
};

/// Both wait when the other side is slow and say nothing when it is gone. Text longer than 4 KB is cut.
void send(int socket, const FabricEvent& event);
void send(int socket, const FabricCommand& command);

/// Without waiting. Nothing: none is there; `gone` is set when the other side has closed.
std::optional<FabricEvent> receive_event(int socket, bool& gone);
std::optional<FabricCommand> receive_command(int socket, bool& gone);

}  // namespace ddbench::launch
