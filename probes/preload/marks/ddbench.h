#ifndef DDBENCH_DDBENCH_H
#define DDBENCH_DDBENCH_H

/* For programs that say themselves where their steps are. Plain C, nothing to link but libdl where dlopen is not in the C library
 * (find_package(ddbench) and the target ddbench::marks). Under `ddbench run` the calls reach ddbench_inject.so, which is preloaded; without
 * it they do nothing: the first one looks the function up, the others test a pointer. */

#ifdef __cplusplus
extern "C" {
#endif

enum ddbench_phase {
  DDBENCH_DATA = 0,       /* waiting for a batch, with its number of samples */
  DDBENCH_FORWARD = 1,    /* a forward pass with gradients, and its loss; without its loss with `id` 1 */
  DDBENCH_BACKWARD = 2,
  DDBENCH_OPTIMIZER = 3,  /* an optimizer's step, at whose end a step ends unless ddbench_step() marks steps */
  DDBENCH_ZERO_GRAD = 4,
  DDBENCH_EVALUATION = 5, /* a forward pass without gradients */
  DDBENCH_SAVE = 6,       /* writing a checkpoint */
  DDBENCH_TRAIN_MODE = 7, /* the model is set to training mode, */
  DDBENCH_EVAL_MODE = 8,  /* or to evaluate: begin_ns does not matter */
  DDBENCH_OPTIMIZER_CALL = 9 /* what calls an optimizer's step and does more: a part of the optimizer, ends no step */
};

/* A rate from 0 to 1000 as ddbench_region() takes it. */
#define DDBENCH_LEARNING_RATE(rate) ((unsigned long long)((rate) * 1e15 + 0.5) + 1)

#ifdef DDBENCH_PROVIDES_MARKS /* ddbench_inject.so itself */
void ddbench_step(void);
long long ddbench_now(void);
void ddbench_region(int phase, long long begin_ns, unsigned long long samples, unsigned long long id);
int ddbench_program_file(const char* folder, const char* name);
int ddbench_report(const char* name); /* of ddbench_inputs.py: what a rank trains, and on what; 0 where it was not recorded */
void ddbench_mark_cost(long long ns); /* of ddbench_regions.py: what a mark takes outside of ddbench_region() */
#else

#include <dlfcn.h>

static __inline__ void* ddbench_find(void** known, const char* name) {
  static char absent;
  void* found = __atomic_load_n(known, __ATOMIC_RELAXED);
  if (found == 0) {
    found = dlsym((void*)0, name); /* RTLD_DEFAULT */
    if (found == 0) found = &absent;
    __atomic_store_n(known, found, __ATOMIC_RELAXED);
  }
  return found == &absent ? 0 : found;
}

/* The step of the calling rank ends, and the next begins. Call it after each optimizer step, from one thread. What lies before
 * the first call belongs to no step. */
static __inline__ void ddbench_step(void) {
  static void* known;
  void* const found = ddbench_find(&known, "ddbench_step");
  if (found != 0) ((void (*)(void))found)();
}

/* CLOCK_MONOTONIC, in nanoseconds: the begin of a region. 0 without ddbench. */
static __inline__ long long ddbench_now(void) {
  static void* known;
  void* const found = ddbench_find(&known, "ddbench_now");
  return found != 0 ? ((long long (*)(void))found)() : 0;
}

/* The calling thread was in `phase` from `begin_ns` (ddbench_now()) until now. `samples`: of a batch; of an optimizer's step
 * DDBENCH_LEARNING_RATE(rate), or 0 where it is not known; else 0. `id` distinguishes data sets and
 * optimizers. Unknown phases are ignored. */
static __inline__ void ddbench_region(int phase, long long begin_ns, unsigned long long samples, unsigned long long id) {
  static void* known;
  void* const found = ddbench_find(&known, "ddbench_region");
  if (found != 0) ((void (*)(int, long long, unsigned long long, unsigned long long))found)(phase, begin_ns, samples, id);
}

/* The learning rate of the step that goes on, for loops whose optimizers nobody marks. Before ddbench_step(). */
static __inline__ void ddbench_learning_rate(double rate) {
  if (rate >= 0 && rate <= 1000)
    ddbench_region(DDBENCH_OPTIMIZER_CALL, ddbench_now(), DDBENCH_LEARNING_RATE(rate), 0);
}

/* The program consists of the file `name`, relative to `folder`, beside its executable or script: a run of an edited file is another
 * case. Its content is read now. 0 where this process records nothing (yet). */
static __inline__ int ddbench_program_file(const char* folder, const char* name) {
  static void* known;
  void* const found = ddbench_find(&known, "ddbench_program_file");
  return found != 0 ? ((int (*)(const char*, const char*))found)(folder, name) : 0;
}
#endif

#ifdef __cplusplus
}
#endif

#endif
