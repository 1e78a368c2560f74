#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ddbench::imports {

/// One rank of a communicator, as NCCL's RAS reports it.
struct RasRank {
  int rank = 0;
  std::string host;  ///< an address; empty: not known
  std::int64_t pid = 0;
  int gpu = -1;  ///< NVML's number; -1: not stated
  // For a rank that answered:
  int init_state = 0;   ///< NCCL's results: 0 success, 7 in progress
  int async_error = 0;  ///< same codes
  bool is_aborted = false;
  bool is_ending = false;  ///< it finalizes or destroys the communicator
  std::map<std::string, std::uint64_t> launched;  ///< by ddbench's word of the collective
  // For a rank that did not answer:
  bool is_unresponsive = false;
  bool is_dead = false;
};

struct RasCommunicator {
  std::string hash;
  int size = 0;
  std::vector<RasRank> ranks;    ///< that answered
  std::vector<RasRank> missing;  ///< ranks that did not answer, or reported that they are not members
};

/// What RAS knew of a job at one time.
struct RasStatus {
  std::string nccl_version;
  std::string timestamp;  ///< of the queried machine, in its own time zone
  std::vector<RasCommunicator> communicators;
  std::uint64_t timeouts = 0;  ///< while RAS queried the job's processes
};

/// Reads what `ncclras -f json` printed (NCCL 2.28.7 and later). Throws Error{kBadInput} that names `origin`, the field and its
/// value for what it is not, and says for ncclras' text how to get JSON.
RasStatus read_ras_status(std::string_view text, const std::string& origin);

}  // namespace ddbench::imports
