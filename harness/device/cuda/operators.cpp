#include "harness/device/cuda/cuda_device.h"
#include "harness/device/cuda/kernels/kernels.h"
#include "harness/device/expect.h"

namespace ddbench::device::cuda {

void CudaDevice::add(const Tensor& x, const Tensor& y) {
  expect("add", {{"x", x, x.rows, x.columns, x.type}, {"y", y, x.rows, x.columns, x.type}});
  expect_activations("add", x);
  cuda::add(stream_.get(), x, y);
}

void CudaDevice::relu_backward(const Tensor& y, const Tensor& dy) {
  expect("relu_backward", {{"y", y, y.rows, y.columns, y.type}, {"dy", dy, y.rows, y.columns, y.type}});
  expect_activations("relu_backward", y);
  cuda::relu_backward(stream_.get(), y, dy);
}

void CudaDevice::gelu_forward(Gelu form, const Tensor& x, const Tensor& y) {
  expect("gelu_forward", {{"x", x, x.rows, x.columns, x.type}, {"y", y, x.rows, x.columns, x.type}});
  expect_activations("gelu_forward", x);
  cuda::gelu_forward(stream_.get(), form, x, y);
}

void CudaDevice::gelu_backward(Gelu form, const Tensor& x, const Tensor& dy, const Tensor& dx) {
  expect("gelu_backward", {{"x", x, x.rows, x.columns, x.type},
                           {"dy", dy, x.rows, x.columns, x.type},
                           {"dx", dx, x.rows, x.columns, x.type}});
  expect_activations("gelu_backward", x);
  cuda::gelu_backward(stream_.get(), form, x, dy, dx);
}

void CudaDevice::gather_rows(const Tensor& table, const Tensor& indices, GradientWrite write,
                             const Tensor& y) {
  expect("gather_rows", {{"table", table, table.rows, y.columns, y.type},
                         {"indices", indices, y.rows, 1, DataType::kInt32},
                         {"y", y, y.rows, y.columns, y.type}});
  expect_activations("gather_rows", y);
  cuda::gather_rows(stream_.get(), table, indices, write, y);
}

void CudaDevice::scatter_add_rows(const Tensor& dy, const Tensor& indices, GradientWrite write,
                                  const Tensor& dtable) {
  expect("scatter_add_rows", {{"dy", dy, dy.rows, dy.columns, dy.type},
                              {"indices", indices, dy.rows, 1, DataType::kInt32},
                              {"dtable", dtable, dtable.rows, dy.columns}});
  expect_activations("scatter_add_rows", dy);
  cuda::scatter_add_rows(stream_.get(), dy, indices, write, dtable);
}

void CudaDevice::softmax_cross_entropy(const Tensor& logits, const Tensor& labels, const Tensor& loss,
                                       float scale, const Tensor& dlogits) {
  constexpr const char* kName = "softmax_cross_entropy";
  expect(kName, {{"logits", logits, logits.rows, logits.columns, logits.type, true},
                 {"labels", labels, logits.rows, 1, DataType::kInt32},
                 {"loss", loss, 1, 1},
                 {"dlogits", dlogits, logits.rows, logits.columns, logits.type, true}});
  expect_activations(kName, logits);
  cuda::softmax_cross_entropy(stream_.get(), logits, labels, loss, scale, dlogits,
                              scratch_.floats(logits.rows + 1));
}

}  // namespace ddbench::device::cuda
