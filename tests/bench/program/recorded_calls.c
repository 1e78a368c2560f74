/* Calls BLAS as often as it is told, in bursts, with nothing to compute: what its recording costs is all there is. Prints
 * the processor time of a call in nanoseconds, that of all threads together.
 *   recorded_calls 200000 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

void cblas_sgemm(int order, int transa, int transb, int m, int n, int k, float alpha, const float* a, int lda,
                 const float* b, int ldb, float beta, float* c, int ldc);

enum { kRowMajor = 101, kNoTranspose = 111, kBurst = 2000 };

static double processor_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static void burst(void) {
  const float one = 1;
  float result = 0;
  for (int i = 0; i < kBurst; ++i) {
    cblas_sgemm(kRowMajor, kNoTranspose, kNoTranspose, 1, 1, 1, 1, &one, 1, &one, 1, 0, &result, 1);
  }
}

int main(int count, char** words) {
  const int bursts = count > 1 ? atoi(words[1]) / kBurst : 100;
  const struct timespec pause = {0, 10 * 1000 * 1000}; /* the ring is emptied meanwhile */
  burst();
  const double begin_ns = processor_ns();
  for (int i = 0; i < bursts; ++i) {
    burst();
    nanosleep(&pause, NULL);
  }
  printf("%.2f ns of processor a call\n", (processor_ns() - begin_ns) / bursts / kBurst);
  return 0;
}
