# The preset `clang` checks every source and generates no code: half the time of a build, and nothing to run.
# A precompiled header is the only file that is written, hence the -o that only cc1 sees. Included after
# project(), see CMakePresets.json. CUDA sources need nvcc and are left to `release`.
set(DDBENCH_SYNTAX_ONLY TRUE)  # executables are empty files: nothing may start them
foreach(language IN ITEMS C CXX)
  set(CMAKE_${language}_COMPILE_OBJECT
    "<CMAKE_${language}_COMPILER> <DEFINES> <INCLUDES> <FLAGS> -fsyntax-only <SOURCE> -Xclang -o -Xclang <OBJECT>" "${CMAKE_COMMAND} -E touch <OBJECT>")
endforeach()
set(CMAKE_CUDA_COMPILE_OBJECT "${CMAKE_COMMAND} -E touch <OBJECT>")
foreach(language IN ITEMS C CXX CUDA)
  set(CMAKE_${language}_ARCHIVE_CREATE "${CMAKE_COMMAND} -E touch <TARGET>")
  set(CMAKE_${language}_ARCHIVE_APPEND "")
  set(CMAKE_${language}_ARCHIVE_FINISH "")
  set(CMAKE_${language}_LINK_EXECUTABLE "${CMAKE_COMMAND} -E touch <TARGET>")
  set(CMAKE_${language}_CREATE_SHARED_LIBRARY "${CMAKE_COMMAND} -E touch <TARGET>")
  set(CMAKE_${language}_CREATE_SHARED_MODULE "${CMAKE_COMMAND} -E touch <TARGET>")
endforeach()
