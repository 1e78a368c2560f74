#pragma once

#include <sys/types.h>

/// In a user namespace of the launcher's, processes are its root, as they need to be to set a network up. Programs are to find the
/// user that has started them: Open MPI's mpirun, for one, refuses root.
namespace ddbench::launch {

struct UserIds {
  uid_t user = 0;
  gid_t group = 0;
};

/// In the user namespace that the calling process has just made: `outside`, as the namespace around it calls the caller, is `inside`
/// here. Throws Error{kEnvironment}.
void map_user(UserIds inside, UserIds outside);

/// For processes that this one starts: who they are outside of the namespace.
void remember_user(UserIds user);

/// The calling process, which has a single thread, is that user again, in a user namespace within the one that it is in. Nothing
/// happens where nobody is remembered, or where the kernel refuses.
void become_remembered_user();

}  // namespace ddbench::launch
