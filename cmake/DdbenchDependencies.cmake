# Dependencies that the CLI needs are REQUIRED. Those that serve one device, one backend or one purpose are
# optional: if absent, the feature is left out and named in the summary (and by `ddbench doctor`).

find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
find_package(nlohmann_json 3.9 REQUIRED)
find_package(CLI11 REQUIRED)
find_package(SQLite3 3.35 REQUIRED)
find_package(Boost REQUIRED)  # headers only: Math, Beast and Asio
find_package(OpenSSL 3.0 REQUIRED)  # OpenSSL::Crypto; every machine with ssh or Python has libcrypto.so.3
find_package(PkgConfig REQUIRED)
find_package(simdjson REQUIRED)  # simdjson::simdjson
find_package(ZLIB REQUIRED)      # ZLIB::ZLIB
pkg_check_modules(protobuf REQUIRED IMPORTED_TARGET protobuf-lite)  # PkgConfig::protobuf
pkg_check_modules(zstd REQUIRED IMPORTED_TARGET libzstd)
pkg_check_modules(utf8proc REQUIRED IMPORTED_TARGET libutf8proc)
find_package(Eigen3 3.3 REQUIRED NO_MODULE)  # headers only: Eigen3::Eigen
# Header-only: distributions also build it as a shared library, which would be one file more to carry to a node.
find_path(TOMLPLUSPLUS_INCLUDE_DIR toml++/toml.h REQUIRED)
add_library(ddbench_toml INTERFACE)
target_include_directories(ddbench_toml SYSTEM INTERFACE "${TOMLPLUSPLUS_INCLUDE_DIR}")
target_compile_definitions(ddbench_toml INTERFACE TOML_HEADER_ONLY=1)

find_package(OneDNN QUIET)  # OneDNN::dnnl
set(DDBENCH_WITH_ONEDNN ${OneDNN_FOUND})
find_package(Gloo CONFIG QUIET)  # target gloo
set(DDBENCH_WITH_GLOO ${Gloo_FOUND})
find_package(MPI QUIET COMPONENTS C)  # MPI::MPI_C
set(DDBENCH_WITH_MPI ${MPI_C_FOUND})
find_package(CURL QUIET)  # CURL::libcurl
set(DDBENCH_WITH_CURL ${CURL_FOUND})
find_package(CUDAToolkit 12 QUIET)
# The CUDA device needs nvcc too, and none of its code can be sanitized.
set(DDBENCH_WITH_CUDA FALSE)
set(DDBENCH_WITH_NCCL FALSE)
if(CUDAToolkit_FOUND)
  find_package(CUDNN QUIET)  # CUDNN::cudnn
  find_package(NCCL QUIET)   # NCCL::nccl
endif()
if(CUDAToolkit_FOUND AND NOT DDBENCH_SANITIZE)
  include(CheckLanguage)
  # The variable CMAKE_CUDA_COMPILER would skip the check, and a compiler that refuses this g++ would end the configuration.
  if(CUDAToolkit_NVCC_EXECUTABLE AND NOT DEFINED ENV{CUDACXX})
    set(ENV{CUDACXX} "${CUDAToolkit_NVCC_EXECUTABLE}")
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER AND TARGET CUDA::cublasLt AND TARGET CUDA::cudart_static AND CUDNN_FOUND)
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 80-real 90)  # A100, H100 and H200; later GPUs compile what 90 has as PTX
    endif()
    enable_language(CUDA)
    set(DDBENCH_WITH_CUDA TRUE)
    set(DDBENCH_WITH_NCCL ${NCCL_FOUND})
  endif()
endif()
set(DDBENCH_WITH_CUPTI FALSE)
if(CUDAToolkit_FOUND AND TARGET CUDA::cupti)
  set(DDBENCH_WITH_CUPTI TRUE)
endif()

if(DDBENCH_BUILD_TESTS)
  find_package(GTest REQUIRED)
  find_package(benchmark REQUIRED)
  # Boost.Context emulates the threads of a GPU; only the headers of CUDA are needed.
  find_package(Boost QUIET OPTIONAL_COMPONENTS context)
  set(DDBENCH_CUDA_ON_HOST FALSE)
  if(TARGET Boost::context AND CUDAToolkit_FOUND AND CUDNN_FOUND AND NCCL_FOUND)
    set(DDBENCH_CUDA_ON_HOST TRUE)
  endif()
endif()

function(ddbench_print_summary)
  message(STATUS "ddbench ${PROJECT_VERSION}")
  foreach(part IN ITEMS "ONEDNN|device cpu (oneDNN)|libdnnl-dev" "GLOO|collectives over Gloo|libgloo-dev"
      "MPI|collectives over MPI|libopenmpi-dev"
      "CURL|HTTP: tracking servers, SKUs from metadata (libcurl)|libcurl4-openssl-dev"
      "CUDA|device cuda (cuBLASLt, cuDNN)|the CUDA Toolkit 12 or later with nvcc, and cuDNN 9"
      "NCCL|collectives over NCCL|the CUDA Toolkit and NCCL"
      "CUPTI|probe of CUDA kernels (CUPTI)|the CUDA Toolkit 12 or later")
    string(REPLACE "|" ";" fields "${part}")
    list(GET fields 0 key)
    list(GET fields 1 what)
    list(GET fields 2 package)
    if(DDBENCH_WITH_${key})
      message(STATUS "  with    ${what}")
    else()
      message(STATUS "  WITHOUT ${what}: install ${package} and configure again")
    endif()
  endforeach()
endfunction()
