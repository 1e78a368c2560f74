# One way to declare a target, so that warnings, standard and sanitizers are the same everywhere
# without any global flag.

add_library(ddbench_build_options INTERFACE)
target_compile_features(ddbench_build_options INTERFACE cxx_std_20)
target_compile_options(ddbench_build_options INTERFACE "$<$<COMPILE_LANGUAGE:CXX>:\
-Wall;-Wextra;-Wshadow;-Wconversion;-Wno-sign-conversion;-Wnon-virtual-dtor;-Woverloaded-virtual>")
# GCC 12 sees overlaps in std::string's own operator+ that are not there (its bug 105651).
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(ddbench_build_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-Wno-restrict>)
endif()
if(DDBENCH_SANITIZE)
  target_compile_options(ddbench_build_options INTERFACE
    -fsanitize=${DDBENCH_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  # Tested code is checked for undefined behaviour. Instrumenting the tests too would cost a third of their
  # build. The options are set here because they precede a target's own options.
  target_compile_options(ddbench_build_options INTERFACE
    "$<$<BOOL:$<TARGET_PROPERTY:DDBENCH_UNIT_TEST>>:-fno-sanitize=undefined>")
  # Functions of C libraries are called by types of our own, which have the same layout.
  target_compile_options(ddbench_build_options INTERFACE $<$<CXX_COMPILER_ID:Clang>:-fno-sanitize=function>)
  target_compile_definitions(ddbench_build_options INTERFACE DDBENCH_SANITIZED)
  target_link_options(ddbench_build_options INTERFACE -fsanitize=${DDBENCH_SANITIZE})
endif()

# Unit tests are many executables that share their libraries: mold links each in a tenth of the time.
find_program(DDBENCH_MOLD mold)
if(DDBENCH_MOLD AND (NOT CMAKE_CXX_COMPILER_ID STREQUAL "GNU" OR CMAKE_CXX_COMPILER_VERSION VERSION_GREATER_EQUAL 12.1))
  set(DDBENCH_TEST_LINKER -fuse-ld=mold)
endif()

if(DDBENCH_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID MATCHES "Clang")
    message(FATAL_ERROR "DDBENCH_FUZZ needs clang, which has libFuzzer: cmake --preset fuzz")
  endif()
  target_compile_options(ddbench_build_options INTERFACE -fsanitize=fuzzer-no-link,float-cast-overflow)
endif()

# The targets that `./quickstart test` builds for a preset: in `release` the user's programs and all tests;
# under the sanitizers the unit tests, or only those that use several threads.
add_custom_target(programs)
add_custom_target(benchmarks)
foreach(label IN ITEMS calibration gui tsan unit)
  add_custom_target(${label}_tests)
endforeach()
add_custom_target(outside_tests)
add_dependencies(outside_tests programs calibration_tests gui_tests)

# ddbench_add_room([NOT_HOT] [SOURCES generated...] [PUBLIC libs...] [PRIVATE libs...])
# A room: one static, position-independent library of all sources in this folder, named after the folder
# (analyzer/scaling is ddbench_analyzer_scaling), or an interface library where the folder has only headers. A library
# without "::" is another room, by its folder. Includes are relative to the top of the tree: "analyzer/scaling/scaling.h".
function(ddbench_add_room)
  cmake_parse_arguments(ARG "NOT_HOT" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  file(RELATIVE_PATH folder "${PROJECT_SOURCE_DIR}" "${CMAKE_CURRENT_SOURCE_DIR}")
  string(REPLACE "/" "_" name "ddbench_${folder}")
  foreach(kind IN ITEMS PUBLIC PRIVATE)
    set(${kind}_libraries)
    foreach(library IN LISTS ARG_${kind})
      if(EXISTS "${PROJECT_SOURCE_DIR}/${library}/CMakeLists.txt")
        string(REPLACE "/" "_" library "ddbench_${library}")
      endif()
      list(APPEND ${kind}_libraries "${library}")
    endforeach()
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS "${CMAKE_CURRENT_SOURCE_DIR}/*.cpp")
  list(APPEND sources ${ARG_SOURCES})
  if(NOT sources)
    add_library(${name} INTERFACE)
    target_include_directories(${name} INTERFACE "${PROJECT_SOURCE_DIR}")
    target_link_libraries(${name} INTERFACE ${PUBLIC_libraries})
    return()
  endif()
  add_library(${name} STATIC ${sources})
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
  target_include_directories(${name} PUBLIC "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PUBLIC ${PUBLIC_libraries} PRIVATE ${PRIVATE_libraries} ddbench_build_options)
  if(ARG_NOT_HOT)
    ddbench_not_hot(${name})
  endif()
  ddbench_share_headers(${name} ${ARG_NOT_HOT})
endfunction()

# ddbench_share_headers(<room> <whether it is NOT_HOT>)
# Rooms share a precompiled header of what most of them include: a third of the time of a clean build.
function(ddbench_share_headers room not_hot)
  # Without optimisation GCC 12 takes its own intrinsics' headers for optimised ones behind a precompiled header.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_BUILD_TYPE STREQUAL "Debug")
    return()
  endif()
  set(owner ddbench_room_headers)
  if(not_hot)
    string(APPEND owner _not_hot)  # a precompiled header serves one level of optimisation
  endif()
  if(NOT TARGET ${owner})
    file(WRITE "${CMAKE_BINARY_DIR}/${owner}.cpp" "")
    add_library(${owner} OBJECT "${CMAKE_BINARY_DIR}/${owner}.cpp")
    set_target_properties(${owner} PROPERTIES POSITION_INDEPENDENT_CODE ON CXX_EXTENSIONS OFF)
    target_link_libraries(${owner} PRIVATE fmt::fmt nlohmann_json::nlohmann_json ddbench_build_options)
    if(not_hot)
      ddbench_not_hot(${owner})
    endif()
    target_precompile_headers(${owner} PRIVATE <fmt/format.h> <nlohmann/json.hpp> <algorithm> <chrono> <filesystem>
      <functional> <map> <memory> <optional> <span> <string> <string_view> <variant> <vector>)
  endif()
  target_precompile_headers(${room} REUSE_FROM ${owner})
endfunction()

# ddbench_group(<name> <room folders...>)
# ddbench::<name>: several rooms at once, for tests and executables.
function(ddbench_group name)
  add_library(ddbench_group_${name} INTERFACE)
  add_library(ddbench::${name} ALIAS ddbench_group_${name})
  foreach(room IN LISTS ARGN)
    string(REPLACE "/" "_" library "ddbench_${room}")
    target_link_libraries(ddbench_group_${name} INTERFACE ${library})
  endforeach()
endfunction()

# ddbench_add_module(<name> [CUDA] SOURCES ... [PRIVATE libs...])
# A shared object lib/ddbench/ddbench_<name>.so that the executable opens at run time: one build serves
# machines with and without the libraries it needs. CUDA: it belongs to the package ddbench-cuda13, for instance.
function(ddbench_add_module name)
  cmake_parse_arguments(ARG "CUDA" "" "SOURCES;PRIVATE" ${ARGN})
  set(component ddbench)
  set(destination "${CMAKE_INSTALL_LIBDIR}/ddbench")
  if(ARG_CUDA)
    set(component cuda)
    string(APPEND destination "/cuda${CUDAToolkit_VERSION_MAJOR}")  # builds for several versions coexist (core/files/cuda_folders.h)
    set_property(GLOBAL PROPERTY DDBENCH_HAS_CUDA_MODULES TRUE)
  endif()
  add_library(ddbench_${name} MODULE ${ARG_SOURCES})
  set_target_properties(ddbench_${name} PROPERTIES PREFIX "" CXX_EXTENSIONS OFF
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
  target_include_directories(ddbench_${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(ddbench_${name} PRIVATE ${ARG_PRIVATE} ddbench_build_options)
  install(TARGETS ddbench_${name} LIBRARY DESTINATION "${destination}" COMPONENT ${component})
  set_property(GLOBAL APPEND PROPERTY DDBENCH_MODULES ddbench_${name})
  add_dependencies(programs ddbench_${name})
endfunction()

# ddbench_self_contained(<target>)
# A shared object that is loaded into user programs exports nothing of the libraries in it, and brings its own libstdc++ and its own
# parts of fmt: the program's environment (a container, conda) may have older ones, or none. The sanitizers need the shared libstdc++.
function(ddbench_self_contained target)
  target_link_options(${target} PRIVATE -Wl,--exclude-libs,ALL)
  if(NOT DDBENCH_SANITIZE)
    target_sources(${target} PRIVATE $<TARGET_OBJECTS:ddbench_own_fmt>)
    target_link_options(${target} PRIVATE -static-libstdc++ -Wl,--as-needed)
  endif()
endfunction()

# ddbench_not_hot(<target>): compiles code that takes no run time without optimisation.
function(ddbench_not_hot target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
  # At -O1 GCC 12 sees overflows in std::string's own constructors that are not there.
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow)
  endif()
endfunction()

# ddbench_add_unit_test(<name> SOURCES ... [LIBS libs...] [LABELS ...] [OWN_PRECOMPILED_HEADERS])
# A GoogleTest executable, registered as one CTest test.
function(ddbench_add_unit_test name)
  cmake_parse_arguments(ARG "OWN_PRECOMPILED_HEADERS" "" "SOURCES;LIBS;LABELS" ${ARGN})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF DDBENCH_UNIT_TEST ON
    RUNTIME_OUTPUT_DIRECTORY "${CMAKE_BINARY_DIR}/tests")
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} GTest::gtest GTest::gtest_main fmt::fmt ddbench_build_options)
  target_include_directories(${name} PRIVATE
    "${PROJECT_SOURCE_DIR}" "${PROJECT_SOURCE_DIR}/tests/support" "${CMAKE_CURRENT_SOURCE_DIR}")
  # At -O3, GoogleTest's macros take half the time of a clean build; the code under test keeps the preset's
  # optimisation.
  target_compile_options(${name} PRIVATE -O0)
  target_link_options(${name} PRIVATE ${DDBENCH_TEST_LINKER})
  if(DDBENCH_SANITIZE)
    set_target_properties(${name} PROPERTIES UNITY_BUILD ON)
  endif()
  # All tests share one precompiled header.
  if(NOT TARGET ddbench_test_headers)
    file(WRITE "${CMAKE_BINARY_DIR}/test_headers.cpp" "")
    add_library(ddbench_test_headers OBJECT "${CMAKE_BINARY_DIR}/test_headers.cpp")
    set_target_properties(ddbench_test_headers PROPERTIES CXX_EXTENSIONS OFF POSITION_INDEPENDENT_CODE OFF
      DDBENCH_UNIT_TEST ON)
    target_link_libraries(ddbench_test_headers PRIVATE GTest::gtest fmt::fmt ddbench_build_options)
    target_compile_options(ddbench_test_headers PRIVATE -O0)
    target_precompile_headers(ddbench_test_headers PRIVATE
      <gtest/gtest.h> <fmt/format.h> <algorithm> <filesystem> <functional> <map> <memory> <optional> <string> <vector>)
  endif()
  if(NOT ARG_OWN_PRECOMPILED_HEADERS)
    target_precompile_headers(${name} REUSE_FROM ddbench_test_headers)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  # Brief output: a failure should not be buried among hundreds of OK lines.
  set_tests_properties(${name} PROPERTIES LABELS "${ARG_LABELS}" TIMEOUT ${DDBENCH_TEST_LIMIT_S} ENVIRONMENT GTEST_BRIEF=1)
  foreach(label IN LISTS ARG_LABELS)
    if(TARGET ${label}_tests)
      add_dependencies(${label}_tests ${name})
    endif()
  endforeach()
endfunction()

# ddbench_add_benchmark(<name> SOURCES ... [LIBS libs...])
# A Google Benchmark executable in bin/; run by hand (see tests/bench/README.md), never timed by a test. `./quickstart test`
# compiles it under the sanitizers only.
function(ddbench_add_benchmark name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES CXX_EXTENSIONS OFF)
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_link_libraries(${name} PRIVATE ${ARG_LIBS} benchmark::benchmark ddbench_build_options)
  add_dependencies(benchmarks ${name})
endfunction()
