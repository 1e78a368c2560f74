#include "ddp_trace.h"

#include <cmath>
#include <random>

#include "core/name_table.h"

namespace ddbench::test {
namespace {

constexpr int kStepsADrain = 10;

class TraceWriter {
 public:
  explicit TraceWriter(const TraceOptions& options) : options_(options), random_(options.seed) {}

  Trace write() {
    std::int64_t now_ns = 7'654'321'000'000;
    for (int step = 0; step < options_.steps; ++step) {
      now_ns = write_step(options_.first_step + static_cast<std::uint32_t>(step), now_ns);
      if ((step + 1) % kStepsADrain == 0) drain();
    }
    drain();
    return {std::move(drained_), names_.names()};
  }

 private:
  std::int64_t length_ns(double typical_ns) {
    double length = typical_ns * std::exp(0.05 * normal_(random_));
    if (uniform_(random_) < options_.preempted_share) length += 4e6 * -std::log(1 - uniform_(random_));
    return static_cast<std::int64_t>(length);
  }

  // Records a span on the main lane that begins a little after `now_ns`; returns its end.
  std::int64_t run(const char* name, SpanKind kind, double typical_ns, std::int64_t now_ns,
                   std::uint64_t bytes, std::uint16_t bucket = kNoBucket) {
    Span span;
    span.begin_ns = now_ns + length_ns(400);
    span.end_ns = span.begin_ns + length_ns(typical_ns);
    span.bytes = bytes;
    span.name_id = names_.intern(name);
    span.step = step_;
    span.kind = kind;
    span.lane = kind == SpanKind::kDataWait ? Lane::kLoader : Lane::kMain;
    span.bucket = bucket;
    (span.lane == Lane::kLoader ? loader_ : main_).push_back(span);
    return span.end_ns;
  }

  void all_reduce(std::uint16_t bucket, std::int64_t ready_ns, std::uint64_t bytes) {
    Span span;
    span.begin_ns = std::max(ready_ns, lane_free_ns_) + length_ns(900);
    span.end_ns = span.begin_ns + length_ns(60'000 + static_cast<double>(bytes));
    span.bytes = bytes;
    span.correlation = collective_key(1, ++sequence_);
    span.name_id = names_.intern("all_reduce");
    span.step = step_;
    span.kind = SpanKind::kCommunication;
    span.lane = Lane::kCommunication;
    span.bucket = bucket;
    lane_free_ns_ = span.end_ns;
    communication_.push_back(span);
  }

  std::int64_t write_step(std::uint32_t step, std::int64_t begin_ns) {
    step_ = step;
    std::int64_t now_ns = run("next_batch", SpanKind::kDataWait, 30'000, begin_ns, 0);
    for (int layer = 0; layer < options_.layers; ++layer) {
      now_ns = run("linear", SpanKind::kForward, 400'000 >> layer, now_ns, 1'048'576u >> layer);
      now_ns = run("relu", SpanKind::kForward, 9'000, now_ns, 131'072);
    }
    now_ns = run("cross_entropy", SpanKind::kForward, 12'000, now_ns, 2'560);
    now_ns = run("cross_entropy_backward", SpanKind::kBackward, 8'000, now_ns, 2'560);
    std::uint16_t bucket = 0;
    for (int layer = options_.layers - 1; layer >= 0; --layer) {
      now_ns = run("linear_backward", SpanKind::kBackward, 800'000 >> layer, now_ns, 2'097'152u >> layer);
      if (bucket < options_.buckets) {
        now_ns = run("bucket_copy", SpanKind::kCopy, 40'000, now_ns, 300'000u * (bucket + 1u), bucket);
        all_reduce(bucket, now_ns, 300'000u * (bucket + 1u));
        ++bucket;
      }
    }
    now_ns = std::max(now_ns, lane_free_ns_);
    now_ns = run("sgd", SpanKind::kOptimizer, 150'000, now_ns, 4'000'000);
    now_ns = run("zero_grad", SpanKind::kOptimizer, 20'000, now_ns, 4'000'000);
    now_ns = run("bookkeeping", SpanKind::kHost, 3'000, now_ns, 0);
    Span whole;
    whole.begin_ns = begin_ns;
    whole.end_ns = now_ns + length_ns(200);
    whole.name_id = names_.intern("step");
    whole.step = step;
    whole.kind = SpanKind::kStep;
    main_.push_back(whole);
    return whole.end_ns;
  }

  void drain() {
    for (std::vector<Span>* ring : {&main_, &communication_, &loader_}) {
      drained_.insert(drained_.end(), ring->begin(), ring->end());
      ring->clear();
    }
  }

  TraceOptions options_;
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_{0, 1};
  NameTable names_;
  std::vector<Span> main_, communication_, loader_, drained_;
  std::uint32_t step_ = 0;
  std::uint64_t sequence_ = 0;
  std::int64_t lane_free_ns_ = 0;
};

}  // namespace

Trace ddp_trace(const TraceOptions& options) {
  return TraceWriter(options).write();
}

}  // namespace ddbench::test
