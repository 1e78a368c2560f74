# What is installed beside the programs, and the packages that `cpack` makes of it: a .deb each for the command line, the
# dashboard (GPL-3.0, see gui/README.md) and the CUDA modules, and one relocatable archive of everything.
#   cmake --preset release -DCMAKE_INSTALL_PREFIX=/usr && cmake --build --preset release && (cd build/release && cpack)

set(documents "${CMAKE_BINARY_DIR}/documents")
install(FILES README.md CHANGELOG.md SECURITY.md DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(FILES LICENSE DESTINATION "${CMAKE_INSTALL_DOCDIR}")
# The licences of libraries that are compiled in ask for their notice beside binaries. Only Debian's packages have it in a known place.
foreach(package IN ITEMS libcli11-dev libfmt-dev nlohmann-json3-dev libtomlplusplus-dev libeigen3-dev libboost-dev)
  if(EXISTS "/usr/share/doc/${package}/copyright")
    install(FILES "/usr/share/doc/${package}/copyright" DESTINATION "${CMAKE_INSTALL_DOCDIR}/third-party" RENAME "${package}.txt")
  endif()
endforeach()
install(DIRECTORY docs/ DESTINATION "${CMAKE_INSTALL_DOCDIR}/docs" FILES_MATCHING PATTERN "*.md")
install(DIRECTORY reports/schema DESTINATION "${CMAKE_INSTALL_DATADIR}/ddbench" FILES_MATCHING PATTERN "*.json")
install(FILES gui/demo/demo.db gui/demo/published.csv DESTINATION "${CMAKE_INSTALL_DATADIR}/ddbench/demo" COMPONENT gui)
install(DIRECTORY reports/ci DESTINATION "${CMAKE_INSTALL_DATADIR}/ddbench")

get_property(has_cuda GLOBAL PROPERTY DDBENCH_HAS_CUDA_MODULES)
set(components ddbench)
if(TARGET ddbench-gui)
  list(APPEND components gui)
endif()
if(has_cuda)
  list(APPEND components cuda)
endif()

# Debian's policy: licence and changelog in each package, by its name; compressed without a date.
set(DDBENCH_PACKAGE_CONTACT "ddbench developers <maintainers@ddbench.invalid>" CACHE STRING "Maintainer that packages name")
find_program(GZIP_EXECUTABLE gzip REQUIRED)
foreach(component IN LISTS components)
  set(package ddbench-${component})
  set(copyright copyright)
  if(component STREQUAL "ddbench")
    set(package ddbench)
  elseif(component STREQUAL "gui")
    set(copyright copyright-gui)
  endif()
  configure_file(cmake/packages/changelog.in "${documents}/${package}/changelog" @ONLY)
  execute_process(COMMAND "${GZIP_EXECUTABLE}" -9nf "${documents}/${package}/changelog")
  set(folder "${CMAKE_INSTALL_DATADIR}/doc/${package}")
  install(FILES cmake/packages/${copyright} DESTINATION "${folder}" RENAME copyright COMPONENT ${component})
  install(FILES "${documents}/${package}/changelog.gz" DESTINATION "${folder}" COMPONENT ${component})
endforeach()
if(TARGET ddbench-gui)
  configure_file(cmake/packages/ddbench-gui.1.in "${documents}/ddbench-gui.1" @ONLY)
  execute_process(COMMAND "${GZIP_EXECUTABLE}" -9nf "${documents}/ddbench-gui.1")
  install(FILES "${documents}/ddbench-gui.1.gz" DESTINATION "${CMAKE_INSTALL_MANDIR}/man1" COMPONENT gui)
endif()

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME ddbench)
set(CPACK_PACKAGE_VENDOR "ddbench developers")
set(CPACK_PACKAGE_CONTACT "${DDBENCH_PACKAGE_CONTACT}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "scaling profiler and benchmark suite for distributed training")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_STRIP_FILES ON)
set(CPACK_THREADS 0)
set(CPACK_COMPONENTS_ALL ${components})
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_ARCHIVE_COMPONENT_INSTALL OFF)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)

set(CPACK_DEBIAN_DDBENCH_PACKAGE_NAME ddbench)
set(CPACK_DEBIAN_DDBENCH_PACKAGE_RECOMMENDS "iproute2, python3")
set(CPACK_DEBIAN_DDBENCH_PACKAGE_SUGGESTS "ddbench-gui, openmpi-bin")
set(CPACK_COMPONENT_DDBENCH_DESCRIPTION "Runs instrumented distributed data-parallel training, or measures
programs that use NCCL, Gloo or MPI, and reports scaling efficiency, where it
is lost, and what would change it. Keeps results in SQLite and fails CI builds
on regressions.")
set(CPACK_DEBIAN_GUI_PACKAGE_NAME ddbench-gui)
set(CPACK_DEBIAN_GUI_PACKAGE_DEPENDS "ddbench (= ${PROJECT_VERSION})")
set(CPACK_COMPONENT_GUI_DESCRIPTION "The dashboard of ddbench: speedup curves, where each step goes,
timelines, networks, SKUs and regressions, in a Qt window. Distributed under
GPL-3.0.")
set(CPACK_DEBIAN_CUDA_PACKAGE_NAME "ddbench-cuda${CUDAToolkit_VERSION_MAJOR}")
set(CPACK_DEBIAN_CUDA_PACKAGE_PROVIDES ddbench-cuda)
set(CPACK_DEBIAN_CUDA_PACKAGE_DEPENDS "ddbench (= ${PROJECT_VERSION}), libc6, libgcc-s1, libstdc++6")
# CUDA, cuDNN and NCCL come from archives with names of their own, or without packages.
set(CPACK_DEBIAN_CUDA_PACKAGE_SHLIBDEPS OFF)
set(CPACK_COMPONENT_CUDA_DESCRIPTION "The parts of ddbench that use NVIDIA GPUs: training on CUDA,
collectives over NCCL, and probes of kernels through CUPTI. Needs the CUDA
Toolkit, cuDNN and NCCL of the major versions that it was built with.")
include(CPack)
