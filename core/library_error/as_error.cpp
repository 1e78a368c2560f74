#include "core/library_error/as_error.h"

#include <fmt/format.h>

#include <filesystem>
#include <ios>
#include <new>
#include <system_error>

namespace ddbench {

Error as_error(const std::exception& error) {
  if (const auto* own = dynamic_cast<const Error*>(&error)) return *own;
  if (dynamic_cast<const std::bad_alloc*>(&error) != nullptr) return Error(ErrorCode::kEnvironment, "not enough memory");
  if (const auto* file = dynamic_cast<const std::filesystem::filesystem_error*>(&error))
    return Error(ErrorCode::kRunFailed, file->what(), file->code().value(), file->path1().string());
  if (dynamic_cast<const std::ios_base::failure*>(&error) != nullptr) return Error(ErrorCode::kRunFailed, error.what());
  if (const auto* refused = dynamic_cast<const std::system_error*>(&error)) {
    return Error(ErrorCode::kEnvironment, fmt::format("the system refused a resource, such as a thread or memory: {}", refused->what()),
                 refused->code().value());
  }
  return Error(ErrorCode::kRunFailed, error.what());
}

}  // namespace ddbench
