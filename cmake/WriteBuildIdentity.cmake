# Writes OUTPUT, the source of core/version/build_identity.h, when the commit or VERSION has changed. Run at each build: `cmake -D... -P`.
execute_process(
  COMMAND git -C "${SOURCE}" describe --always --abbrev=12 --dirty=+ --exclude=*
  OUTPUT_VARIABLE commit ERROR_QUIET RESULT_VARIABLE failed OUTPUT_STRIP_TRAILING_WHITESPACE)
if(failed OR NOT commit)
  set(commit "unknown")
endif()
set(text "#include \"core/version/build_identity.h\"

namespace ddbench {

std::string_view build_version() noexcept { return \"${VERSION}\"; }
std::string_view build_commit() noexcept { return \"${commit}\"; }

}  // namespace ddbench
")
set(before "")
if(EXISTS "${OUTPUT}")
  file(READ "${OUTPUT}" before)
endif()
if(NOT before STREQUAL text)
  file(WRITE "${OUTPUT}" "${text}")
endif()
