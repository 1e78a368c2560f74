#ifndef DDBENCH_INJECT_DDBENCH_H
#define DDBENCH_INJECT_DDBENCH_H

/* For programs that want to say themselves where their steps are; plain C, callable through ctypes or dlsym.
 * Without `ddbench run` the symbols are absent: look them up with dlsym(RTLD_DEFAULT, "ddbench_step") and call
 * them when they are there.
 */

#ifdef __cplusplus
extern "C" {
#endif

/* The optimizer step of the calling rank ends, and the next begins. Call it after each optimizer.step(), from
 * one thread. */
void ddbench_step(void);

enum ddbench_phase {
  DDBENCH_DATA = 0,       /* waiting for a batch, with its number of samples */
  DDBENCH_FORWARD = 1,    /* a forward pass with gradients */
  DDBENCH_BACKWARD = 2,
  DDBENCH_OPTIMIZER = 3,  /* an optimizer's step, at whose end a step ends unless ddbench_step() marks steps */
  DDBENCH_ZERO_GRAD = 4,
  DDBENCH_EVALUATION = 5, /* a forward pass without gradients */
  DDBENCH_SAVE = 6,       /* writing a checkpoint */
  DDBENCH_TRAIN_MODE = 7, /* the model is told to train, */
  DDBENCH_EVAL_MODE = 8   /* or to evaluate: begin_ns does not matter */
};

/* The calling thread was in `phase` from `begin_ns` (CLOCK_MONOTONIC, in nanoseconds) until now. `samples`: of a
 * batch, else 0. `id` tells data sets and optimizers apart. Unknown phases are ignored. */
void ddbench_region(int phase, long long begin_ns, unsigned long long samples, unsigned long long id);

/* The program consists of the file `name`, relative to `folder`, beside its executable or script: a run of an edited file is
 * another case. Its content is read now. 0 where this process records nothing (yet). */
int ddbench_program_file(const char* folder, const char* name);

#ifdef __cplusplus
}
#endif

#endif
