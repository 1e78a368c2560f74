#pragma once

#include <exception>

#include "core/error.h"

namespace ddbench {

/// What an exception of a library means for users: an Error itself; kEnvironment for memory, and for threads and other resources
/// that the system refuses (std::system_error); else, also for files and streams, kRunFailed with its text.
Error as_error(const std::exception& error);

}  // namespace ddbench
