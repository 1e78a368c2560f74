#pragma once

// One binary for every x86-64: the widest vectors that the machine supports are chosen when the module is
// opened. Sanitizers are not initialised yet at that moment; with them, and with other compilers and
// machines, the build target's vectors are used.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(DDBENCH_SANITIZED)
#define DDBENCH_WIDEST_VECTORS __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define DDBENCH_WIDEST_VECTORS
#endif
