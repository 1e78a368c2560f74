#pragma once

#include <string>
#include <string_view>

#include "harness/launch/control/launch_contract.h"
#include "harness/launch/control/launcher_options.h"
#include "harness/launch/remote/remote_processes.h"
#include "harness/launch/start/placement.h"

namespace ddbench::launch {

/// Programs of the name mpirun, by the options that they take.
enum class Mpirun {
  kOpenMpi,
  kHydra,  ///< of MPICH, MVAPICH and Intel MPI
};
/// By what `mpirun --version` prints. Open MPI where it says neither.
Mpirun mpirun_of(std::string_view version);
/// That of this machine's PATH; Open MPI where there is none, whose start then fails with the reason.
Mpirun installed_mpirun();

/// What mpirun is asked, for each rank to be `<executable> worker`. Pure, but for the address that leads to
/// the hosts.
RemoteJob mpirun_job(const RunCase& run_case, const std::string& executable, const LauncherOptions& options, Mpirun mpirun);

/// Likewise for srun.
RemoteJob srun_job(const RunCase& run_case, const std::string& executable, const LauncherOptions& options,
                   const Variables& variables);

/// For rank 0 of a world that already exists: the job is its own worker, the others connect by themselves.
/// Throws Error{kBadInput} when the case has other nodes and ranks than the world, or this is another rank.
RemoteJob env_job(const RunCase& run_case, const std::string& executable, const LauncherOptions& options,
                  const Placement& placement);

/// Where rank 0 of a world listens, and what its other ranks have in common with it: $DDBENCH_TOKEN, where
/// the user gave one to all of them, else the user's own secret where all of them are on one machine
/// (user_secret), else none; and the name of the job, which only keeps jobs apart. Takes the token out of
/// the environment (take_token). Errors as env_job, take_token and user_secret.
struct EnvEndpoint {
  Endpoint endpoint;
  Credentials credentials;
};
EnvEndpoint env_endpoint(const LauncherOptions& options, const Placement& placement);

/// Whether ranks send a SampledSpool of their recording. Throws Error{kBadInput} if this is requested for a
/// case whose steps are not known during the run: only those of the reference workloads are.
bool reduces_spans(const RunCase& run_case, SentSpans spans);

/// Where the ranks report to: --interface, else the address that leads to the first of the hosts, else
/// loopback.
Endpoint report_endpoint(const LauncherOptions& options, const std::string& first_host);

}  // namespace ddbench::launch
