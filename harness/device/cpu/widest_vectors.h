#pragma once

// One binary for every x86-64: the widest vectors that the machine has are chosen when the module is opened.
// Sanitizers are not up yet at that moment, and other compilers and machines use what they were told to build
// for.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define DDBENCH_WIDEST_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define DDBENCH_WIDEST_VECTORS
#endif
