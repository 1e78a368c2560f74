#include "ddbench/inject/ddbench.h"
#include "session.h"

void ddbench_step(void) {
  ddbench::inject::mark_step();
}
