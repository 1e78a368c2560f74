#pragma once

#include <set>
#include <string>
#include <string_view>

namespace ddbench::collective {

/// What NCCL logs of how its ranks reach each other: a few lines a connection. For NCCL_DEBUG (INFO) and
/// NCCL_DEBUG_SUBSYS.
inline constexpr const char* kNcclLogLevel = "INFO";
inline constexpr const char* kNcclLogSubsystems = "INIT,P2P,SHM,NET";

/// Whether the user of this process directs NCCL's log, which is then left alone.
bool user_directs_nccl_log() noexcept;

/// The ways that lines of NCCL's logs name ("... 0[0] -> 1[1] [send] via NET/Socket/0").
class NcclTransports {
 public:
  /// Adds the log of one process: it states which ports its verbs use.
  void add(std::string_view log);
  /// Each once, the network first: "NET/Socket/0, P2P/CUMEM". Verbs over Ethernet are "NET/IB/0 (RoCE)".
  /// Empty when no log names one.
  std::string text() const;

 private:
  std::set<std::string> network_;
  std::set<std::string> local_;
};

}  // namespace ddbench::collective
