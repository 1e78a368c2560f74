#pragma once

#include <string>
#include <string_view>

namespace ddbench::collective {

/// What NCCL logs of how its ranks reach each other: a few lines a connection. For NCCL_DEBUG (INFO) and
/// NCCL_DEBUG_SUBSYS.
inline constexpr const char* kNcclLogLevel = "INFO";
inline constexpr const char* kNcclLogSubsystems = "INIT,P2P,SHM,NET";

/// How the names of such logs end that programs of the user's write: "rank0.1234.nccl.log".
inline constexpr const char* kNcclLogSuffix = ".nccl.log";

/// Whether the user of this process directs NCCL's log, which is then left alone.
bool user_directs_nccl_log() noexcept;

/// The ways that lines of NCCL's log name ("... 0[0] -> 1[1] [send] via NET/Socket/0"), each once, the
/// network first: "NET/Socket/0, P2P/CUMEM". Verbs over Ethernet are "NET/IB/0 (RoCE)". Empty when it names
/// none.
std::string transports_in(std::string_view log);

}  // namespace ddbench::collective
