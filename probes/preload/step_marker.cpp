#include "probes/preload/ddbench.h"
#include "probes/preload/session.h"

void ddbench_step(void) {
  ddbench::inject::mark_step();
}
