/* A program without a library that ddbench knows: it marks its steps itself, with the installed header. */
#include <ddbench/ddbench.h>
#include <stdio.h>

enum { kSteps = 25 };

int main(void) {
  volatile double sink = 0;
  ddbench_step(); /* begins the first one */
  for (int step = 0; step < kSteps; ++step) {
    const long long begin = ddbench_now();
    for (int i = 0; i < 100000; ++i) sink += i;
    ddbench_region(DDBENCH_DATA, begin, 8, 1);
    for (int i = 0; i < 300000; ++i) sink += i;
    ddbench_step();
  }
  printf("%d steps\n", kSteps);
  return 0;
}
