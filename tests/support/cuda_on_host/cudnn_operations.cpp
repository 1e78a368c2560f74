#include "cudnn_operations.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "products.h"

namespace ddbench::cuda_on_host {
namespace {

std::int64_t count_of(const Sizes& dimensions) {
  std::int64_t count = 1;
  for (const std::int64_t size : dimensions) count *= size;
  return count;
}

Sizes dense_strides(const Sizes& dimensions) {
  Sizes strides(dimensions.size(), 1);
  for (std::size_t i = dimensions.size(); i-- > 1;) strides[i - 1] = strides[i] * dimensions[i];
  return strides;
}

/// Where each element lies, in the order of the dimensions.
Sizes offsets_of(const Sizes& dimensions, const Sizes& strides) {
  Sizes offsets = {0};
  for (std::size_t i = 0; i < dimensions.size(); ++i) {
    Sizes inner;
    inner.reserve(offsets.size() * dimensions[i]);
    for (const std::int64_t offset : offsets) {
      for (std::int64_t at = 0; at < dimensions[i]; ++at) inner.push_back(offset + at * strides[i]);
    }
    offsets = std::move(inner);
  }
  return offsets;
}

/// Strides of the dense dimensions `from` for iterating over the dimensions `to`.
Sizes broadcast(const Sizes& from, const Sizes& to) {
  demand(from.size() == to.size(), "tensors of an operation have different numbers of dimensions");
  Sizes strides = dense_strides(from);
  for (std::size_t i = 0; i < to.size(); ++i) {
    demand(from[i] == to[i] || from[i] == 1, "a tensor's dimensions do not fit those of another");
    if (from[i] == 1) strides[i] = 0;
  }
  return strides;
}

void demand_numbers(std::initializer_list<const GraphTensor*> tensors) {
  for (const GraphTensor* tensor : tensors) {
    demand(tensor->holds_numbers(), "an operation computes with floating-point numbers only");
  }
}

struct PointwiseFunction {
  std::size_t inputs;
  float (*f)(float x, float b, float t);
};

PointwiseFunction function_of(cudnnPointwiseMode_t mode) {
  switch (mode) {
    case CUDNN_POINTWISE_ADD: return {2, [](float x, float b, float) { return x + b; }};
    case CUDNN_POINTWISE_SUB: return {2, [](float x, float b, float) { return x - b; }};
    case CUDNN_POINTWISE_MUL: return {2, [](float x, float b, float) { return x * b; }};
    case CUDNN_POINTWISE_DIV: return {2, [](float x, float b, float) { return x / b; }};
    case CUDNN_POINTWISE_EXP: return {1, [](float x, float, float) { return std::exp(x); }};
    case CUDNN_POINTWISE_LOG: return {1, [](float x, float, float) { return std::log(x); }};
    case CUDNN_POINTWISE_CMP_GE: return {2, [](float x, float b, float) { return x >= b ? 1.0F : 0.0F; }};
    case CUDNN_POINTWISE_BINARY_SELECT:
      return {3, [](float x, float b, float t) { return t != 0.0F ? x : b; }};
    default: throw Refusal{CUDNN_STATUS_NOT_SUPPORTED, "no such pointwise function here"};
  }
}

void demand_types(const PointwiseRule& rule, const std::vector<GraphTensor>& inputs, const GraphTensor& y) {
  const bool compares = rule.mode == CUDNN_POINTWISE_CMP_GE;
  demand(rule.is_logical == compares, "a function is computed with numbers, a comparison with truth values");
  demand(compares ? y.format == Format::kBoolean : y.holds_numbers(),
         "a function's result has the wrong type");
  if (compares) {
    demand(inputs[0].format == inputs[1].format && inputs[0].format != Format::kBoolean,
           "a comparison is one of numbers of the same type");
    return;
  }
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool fits = i < 2 ? inputs[i].holds_numbers() : inputs[i].format == Format::kBoolean;
    demand(fits, "a function's input has the wrong type");
  }
}

GraphOperation index_along(std::int64_t axis, const GraphTensor& like, const GraphTensor& y) {
  demand(axis >= 0 && axis < static_cast<std::int64_t>(y.dimensions.size()), "an index has no such axis");
  demand(like.dimensions == y.dimensions, "an index has other dimensions than its input");
  demand(y.format == Format::kInt32, "an index is an int32");
  Sizes strides(y.dimensions.size(), 0);
  strides[axis] = 1;
  return {{like}, y, [dimensions = y.dimensions, strides](const Inputs&) {
            const Sizes indices = offsets_of(dimensions, strides);
            return Values(indices.begin(), indices.end());
          }};
}

}  // namespace

Values GraphTensor::read(const void* memory) const {
  const Sizes offsets = offsets_of(dimensions, strides);
  Values values(offsets.size());
  with_number_of(format, [&](auto number) {
    const auto* const from = static_cast<const decltype(number)*>(memory);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = widened(from[offsets[i]]);
  });
  return values;
}

void GraphTensor::write(Values& values, void* memory) const {
  const Sizes offsets = is_virtual ? Sizes{} : offsets_of(dimensions, strides);
  with_number_of(format, [&](auto number) {
    auto* const to = static_cast<decltype(number)*>(memory);
    for (std::size_t i = 0; i < values.size(); ++i) {
      narrow(values[i], number);
      values[i] = widened(number);
      if (!is_virtual) to[offsets[i]] = number;
    }
  });
}

GraphOperation matrix_product(const GraphTensor& a, const GraphTensor& b, const GraphTensor& y) {
  demand_numbers({&a, &b, &y});
  const std::size_t rank = y.dimensions.size();
  demand(rank >= 2 && a.dimensions.size() == rank && b.dimensions.size() == rank,
         "matrices of a product have different numbers of dimensions");
  const std::int64_t m = y.dimensions[rank - 2];
  const std::int64_t n = y.dimensions[rank - 1];
  const std::int64_t k = a.dimensions[rank - 1];
  demand(a.dimensions[rank - 2] == m && b.dimensions[rank - 2] == k && b.dimensions[rank - 1] == n,
         "the matrices of a product do not fit");
  const auto batch = [](const GraphTensor& x) { return Sizes(x.dimensions.begin(), x.dimensions.end() - 2); };
  const Sizes left = offsets_of(batch(y), broadcast(batch(a), batch(y)));
  const Sizes right = offsets_of(batch(y), broadcast(batch(b), batch(y)));
  return {{a, b}, y, [=](const Inputs& inputs) {
            Values result(left.size() * m * n);
            for (std::size_t i = 0; i < left.size(); ++i) {
              multiply(m, n, k, {inputs[0]->data() + left[i] * m * k, k, 1},
                       {inputs[1]->data() + right[i] * k * n, n, 1}, result.data() + i * m * n);
            }
            return result;
          }};
}

GraphOperation pointwise(const PointwiseRule& rule, const std::vector<GraphTensor>& inputs,
                         const GraphTensor& y) {
  if (rule.mode == CUDNN_POINTWISE_GEN_INDEX) {
    demand(inputs.size() == 1, "an index is made for one tensor");
    return index_along(rule.axis, inputs[0], y);
  }
  const PointwiseFunction function = function_of(rule.mode);
  demand(inputs.size() == function.inputs, "a pointwise function has other inputs");
  demand_types(rule, inputs, y);
  std::vector<Sizes> strides;
  strides.reserve(inputs.size());
  for (const GraphTensor& input : inputs) strides.push_back(broadcast(input.dimensions, y.dimensions));
  return {inputs, y, [strides, dimensions = y.dimensions, f = function.f](const Inputs& values) {
            Values result(count_of(dimensions));
            std::vector<Sizes> places;  // none where they are the result's
            for (std::size_t i = 0; i < values.size(); ++i) {
              const bool same = values[i]->size() == result.size();
              places.push_back(same ? Sizes{} : offsets_of(dimensions, strides[i]));
            }
            const auto at = [&](std::size_t input, std::size_t i) {
              if (input >= places.size()) return 0.0F;
              return (*values[input])[places[input].empty() ? i : places[input][i]];
            };
            for (std::size_t i = 0; i < result.size(); ++i) result[i] = f(at(0, i), at(1, i), at(2, i));
            return result;
          }};
}

GraphOperation reduction(cudnnReduceTensorOp_t mode, const GraphTensor& x, const GraphTensor& y) {
  demand_numbers({&x, &y});
  demand(mode == CUDNN_REDUCE_TENSOR_ADD || mode == CUDNN_REDUCE_TENSOR_MAX, "no such reduction here",
         CUDNN_STATUS_NOT_SUPPORTED);
  const bool adds = mode == CUDNN_REDUCE_TENSOR_ADD;
  const float start = adds ? 0.0F : -std::numeric_limits<float>::infinity();
  const Sizes strides = broadcast(y.dimensions, x.dimensions);
  return {{x}, y, [=, dimensions = x.dimensions, count = count_of(y.dimensions)](const Inputs& inputs) {
            const Sizes places = offsets_of(dimensions, strides);
            Values result(count, start);
            for (std::size_t i = 0; i < places.size(); ++i) {
              float& to = result[places[i]];
              to = adds ? to + (*inputs[0])[i] : std::max(to, (*inputs[0])[i]);
            }
            return result;
          }};
}

GraphOperation view(const GraphTensor& x, const GraphTensor& y) {
  demand_numbers({&x, &y});
  const Sizes dense = dense_strides(x.dimensions);
  Sizes strides(y.dimensions.size(), 0);
  for (std::size_t i = 0; i < y.dimensions.size(); ++i) {
    if (y.dimensions[i] == 1) continue;
    std::size_t same = 0;  // a stride is one dimension's only
    while (same < x.strides.size() &&
           (x.strides[same] != y.strides[i] || x.dimensions[same] != y.dimensions[i])) {
      ++same;
    }
    demand(same < x.strides.size(),
           "a view has dimensions that are not those of its tensor in another order");
    strides[i] = dense[same];
  }
  demand(count_of(x.dimensions) == count_of(y.dimensions), "a view leaves out some of its tensor");
  return {{x}, y, [strides, dimensions = y.dimensions](const Inputs& inputs) {
            const Sizes places = offsets_of(dimensions, strides);
            Values result(places.size());
            for (std::size_t i = 0; i < result.size(); ++i) result[i] = (*inputs[0])[places[i]];
            return result;
          }};
}

void run(const std::vector<GraphOperation>& operations, const std::map<std::int64_t, void*>& memory,
         std::map<std::int64_t, Values> values) {
  for (const GraphOperation& operation : operations) {
    Inputs inputs;
    for (const GraphTensor& tensor : operation.inputs) {
      const auto [known, is_new] = values.try_emplace(tensor.id);
      if (is_new) known->second = tensor.read(memory.at(tensor.id));
      inputs.push_back(&known->second);
    }
    const GraphTensor& y = operation.y;
    Values result = operation.compute(inputs);
    y.write(result, y.is_virtual ? nullptr : memory.at(y.id));
    values[y.id] = std::move(result);
  }
}

}  // namespace ddbench::cuda_on_host
