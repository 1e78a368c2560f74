// Stands before the maths libraries whose calls show that a program computes: oneDNN and BLAS. Declared here
// and not by their headers: one build serves every version of them.
#include <cstddef>

#include "probes/preload/original.h"
#include "probes/preload/session.h"

namespace {

using ddbench::inject::Call;
using ddbench::inject::CallName;
using ddbench::inject::original;

// Order, transpositions and sizes are C enumerations and ints; the rest are addresses, or floating-point
// numbers.
using Enum = int;
using Int = int;

}  // namespace

extern "C" {

int dnnl_primitive_execute(const void* primitive, void* stream, int count, const void* arguments) {
  const Call call(CallName::kOneDnn);
  return original<&dnnl_primitive_execute>()(primitive, stream, count, arguments);
}

void sgemm_(const char* transa, const char* transb, const Int* m, const Int* n, const Int* k,
            const float* alpha, const float* a, const Int* lda, const float* b, const Int* ldb,
            const float* beta, float* c, const Int* ldc) {
  const Call call(CallName::kBlas);
  original<&sgemm_>()(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void dgemm_(const char* transa, const char* transb, const Int* m, const Int* n, const Int* k,
            const double* alpha, const double* a, const Int* lda, const double* b, const Int* ldb,
            const double* beta, double* c, const Int* ldc) {
  const Call call(CallName::kBlas);
  original<&dgemm_>()(transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void sgemv_(const char* trans, const Int* m, const Int* n, const float* alpha, const float* a, const Int* lda,
            const float* x, const Int* incx, const float* beta, float* y, const Int* incy) {
  const Call call(CallName::kBlas);
  original<&sgemv_>()(trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
}

void dgemv_(const char* trans, const Int* m, const Int* n, const double* alpha, const double* a,
            const Int* lda, const double* x, const Int* incx, const double* beta, double* y,
            const Int* incy) {
  const Call call(CallName::kBlas);
  original<&dgemv_>()(trans, m, n, alpha, a, lda, x, incx, beta, y, incy);
}

void cblas_sgemm(Enum order, Enum transa, Enum transb, Int m, Int n, Int k, float alpha, const float* a,
                 Int lda, const float* b, Int ldb, float beta, float* c, Int ldc) {
  const Call call(CallName::kBlas);
  original<&cblas_sgemm>()(order, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

void cblas_dgemm(Enum order, Enum transa, Enum transb, Int m, Int n, Int k, double alpha, const double* a,
                 Int lda, const double* b, Int ldb, double beta, double* c, Int ldc) {
  const Call call(CallName::kBlas);
  original<&cblas_dgemm>()(order, transa, transb, m, n, k, alpha, a, lda, b, ldb, beta, c, ldc);
}

}  // extern "C"
