#pragma once

#include <filesystem>
#include <string>

namespace ddbench::launch {

/// The secret by which ranks of one user on one machine know each other where no other was given to them: the
/// file `launch-secret` in `directory`, which only this user can read (mode 0600). It is made with random
/// bytes when it is missing; ranks that do so at the same time get the same. Empty when it can neither be
/// read nor made, as without a writable home. Throws Error{kEnvironment} when others could have read or
/// written it.
std::string user_secret(const std::filesystem::path& directory);

}  // namespace ddbench::launch
