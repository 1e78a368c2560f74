#ifndef DDBENCH_INJECT_DDBENCH_H
#define DDBENCH_INJECT_DDBENCH_H

/* For programs that want to say themselves where their steps are; plain C, callable through ctypes or dlsym.
 */

#ifdef __cplusplus
extern "C" {
#endif

/* The optimizer step of the calling rank ends, and the next begins. Call it after each optimizer.step(), from
 * one thread. Without `ddbench run` the symbol is absent: look it up with dlsym(RTLD_DEFAULT, "ddbench_step")
 * and call it when it is there. */
void ddbench_step(void);

#ifdef __cplusplus
}
#endif

#endif
