// Parameter servers, synchronous: the parameters are spread over servers, which live on the first ranks.
// Every rank pushes its gradients to them, they average and update, and every rank pulls the new values. A
// server's link carries what all ranks send it.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "harness/training/optimizer/parameters.h"
#include "harness/training/strategy/bucket_order.h"
#include "harness/training/strategy/strategies.h"

namespace ddbench::ddp {
namespace {

using device::Tensor;

/// One rank, the baseline of others, has one server whatever the option says.
int servers_of(const RunCase& run_case) {
  const int ranks = run_case.world_size();
  return std::min(ranks,
                  static_cast<int>(strategy_number(run_case, "servers", 1, 1, ranks == 1 ? 1e6 : ranks)));
}

/// What is pushed and pulled as one: parameters of one server.
struct Key {
  int server = 0;
  Bucket parameters;
};

/// Whole parameters to the server that has least so far, as tf.distribute's greedy load balancing does it.
std::vector<int> assign_servers(std::span<const std::int64_t> parameter_bytes, int servers) {
  std::vector<std::int64_t> load(static_cast<std::size_t>(servers));
  std::vector<int> server_of;
  for (const std::int64_t bytes : parameter_bytes) {
    const auto least = std::min_element(load.begin(), load.end());
    *least += bytes;
    server_of.push_back(static_cast<int>(least - load.begin()));
  }
  return server_of;
}

/// In the order in which backward completes them.
std::vector<Key> plan_keys(const RunCase& run_case, std::span<const std::int64_t> parameter_bytes) {
  const int servers = servers_of(run_case);
  const std::vector<int> server_of = assign_servers(parameter_bytes, servers);
  std::vector<Key> keys;
  for (int server = 0; server < servers; ++server) {
    std::vector<std::size_t> owned;
    std::vector<std::int64_t> bytes;
    for (std::size_t i = 0; i < parameter_bytes.size(); ++i) {
      if (server_of[i] != server) continue;
      owned.push_back(i);
      bytes.push_back(parameter_bytes[i]);
    }
    for (Bucket& bucket : plan_buckets(bytes, run_case.first_bucket_bytes, run_case.bucket_bytes)) {
      for (std::size_t& parameter : bucket) parameter = owned[parameter];
      keys.push_back({server, std::move(bucket)});
    }
  }
  std::stable_sort(keys.begin(), keys.end(),
                   [](const Key& a, const Key& b) { return a.parameters.back() > b.parameters.back(); });
  return keys;
}

std::vector<Bucket> buckets_of(const std::vector<Key>& keys) {
  std::vector<Bucket> buckets;
  for (const Key& key : keys) buckets.push_back(key.parameters);
  return buckets;
}

class ParameterServer final : public Strategy {
 public:
  explicit ParameterServer(const StrategySite& site)
      : Strategy(site),
        average_name_(site.probe.intern("average_gradients")),
        keys_(plan_keys(site.run_case, bytes_of(site.specs))),
        order_(buckets_of(keys_), site.specs.size()),
        sums_(site.device.side_queue()) {
    std::int64_t total = 0;
    for (const workload::ParameterSpec& spec : site.specs) total += spec.elements();
    value_memory_ = site.device.allocate(total * std::int64_t{sizeof(float)}, device::MemoryUse::kParameters);
    gradient_memory_ = site.device.allocate(total * std::int64_t{sizeof(float)}, device::MemoryUse::kGradients);
    lay_out(total);
  }

  bool updates_everything() const noexcept override { return site_.world_size == 1; }

  void update(Optimizer& optimizer, std::uint32_t updates, double lr) override {
    std::size_t slice = 0;
    for (std::size_t key = 0; key < keys_.size(); ++key) {
      for (; slice < pieces_[key].slices_end; ++slice) optimizer.update(slice, updates, lr);
      submit([this, key, where = place(key)](RecordedCollectives& collectives) {
        collectives.pull(pieces_[key].values.bytes(), where,
                         [&](collective::Communicator& communicator) { pull(communicator, key); });
      });
    }
    wait();
  }

 private:
  struct Piece {  // of memory, one for each key
    Tensor values;
    Tensor gradients;
    std::size_t slices_end = 0;
  };

  void lay_out(std::int64_t total) {
    const Tensor all_values{value_memory_.data(), 1, total};
    const Tensor all_gradients{gradient_memory_.data(), 1, total};
    std::vector<Tensor> values(site_.specs.size());
    std::vector<Tensor> gradients(site_.specs.size());
    std::int64_t at = 0;
    std::int64_t longest = 0;
    for (const Key& key : keys_) {
      const std::int64_t size = elements_of(key.parameters, site_.specs);
      pieces_.push_back({all_values.part(at, size), all_gradients.part(at, size)});
      if (key.server == site_.rank) longest = std::max(longest, size);
      for (const std::size_t parameter : key.parameters) {
        const workload::ParameterSpec& spec = site_.specs[parameter];
        values[parameter] = {all_values.part(at, spec.elements()).data, spec.rows, spec.columns};
        gradients[parameter] = {all_gradients.part(at, spec.elements()).data, spec.rows, spec.columns};
        at += spec.elements();
      }
    }
    received_memory_ = site_.device.allocate(longest * std::int64_t{sizeof(float)}, device::MemoryUse::kBuckets);
    received_ = Tensor{received_memory_.data(), 1, longest};
    set_parameters(values, gradients, all_values);
    for (std::size_t key = 0; key < keys_.size(); ++key) {
      if (keys_[key].server == site_.rank) {
        for (const std::size_t parameter : keys_[key].parameters) add_slice(parameter);
      }
      pieces_[key].slices_end = slices().size();
    }
  }

  void begin_reduction() override { order_.begin(); }
  void reduce_when_ready(std::size_t parameter) override {
    order_.on_ready(parameter, [this](std::size_t key) {
      submit([this, key, where = place(key)](RecordedCollectives& collectives) {
        collectives.push(pieces_[key].gradients.bytes(), where,
                         [&](collective::Communicator& communicator) { push(communicator, key); });
      });
    });
  }

  void finish_reduction() override {
    if (site_.world_size == 1) return;
    for (const Slice& slice : slices()) {
      const auto span = site_.probe.span(SpanKind::kBackward, average_name_, slice.gradient.bytes());
      site_.device.scale(slice.gradient, 1.0F / static_cast<float>(site_.world_size));
    }
  }

  // What follows runs on the communication thread. A server turns to the ranks after it first, so that
  // servers do not all serve the same rank.

  template <typename Visit>
  void for_each_other(Visit&& visit) const {
    for (int i = 1; i < site_.world_size; ++i) visit((site_.rank + i) % site_.world_size);
  }

  void push(collective::Communicator& communicator, std::size_t key) {
    const Tensor& gradients = pieces_[key].gradients;
    if (keys_[key].server != site_.rank) return communicator.send(elements(gradients), keys_[key].server);
    const Tensor received = received_.part(0, gradients.elements());
    for_each_other([&](int worker) {
      communicator.receive(elements(received), worker);
      sums_->add(received, gradients);
      sums_->synchronize();  // before the next one's arrive in the same place
    });
  }

  void pull(collective::Communicator& communicator, std::size_t key) {
    const collective::Elements values = elements(pieces_[key].values);
    if (keys_[key].server != site_.rank) return communicator.receive(values, keys_[key].server);
    for_each_other([&](int worker) { communicator.send(values, worker); });
  }

  const std::uint32_t average_name_;
  const std::vector<Key> keys_;
  BucketOrder order_;
  device::Buffer value_memory_;
  device::Buffer gradient_memory_;
  std::vector<Piece> pieces_;
  device::Buffer received_memory_;
  Tensor received_;  // a worker's gradients, on a server
  const std::unique_ptr<device::SideQueue> sums_;
};

/// Bytes that each server keeps.
std::vector<std::int64_t> shares(const RunCase& run_case, std::span<const std::int64_t> parameter_bytes) {
  std::vector<std::int64_t> bytes(static_cast<std::size_t>(servers_of(run_case)));
  const std::vector<int> server_of = assign_servers(parameter_bytes, servers_of(run_case));
  for (std::size_t i = 0; i < parameter_bytes.size(); ++i) {
    bytes[static_cast<std::size_t>(server_of[i])] += parameter_bytes[i];
  }
  return bytes;
}

StrategyTraffic traffic(const RunCase& run_case, std::span<const std::int64_t> parameter_bytes) {
  const std::vector<std::int64_t> servers = shares(run_case, parameter_bytes);
  const double n = run_case.world_size();
  const auto all = static_cast<double>(sum_of(parameter_bytes));
  const auto largest = static_cast<double>(*std::max_element(servers.begin(), servers.end()));
  // A server sends its share to the others, and its gradients of the other shares; it receives as much.
  const double busiest = (n - 1) * largest + (n > 1 ? all - largest : 0);
  return {.formula = "2 (n-1)/n S, but a server with a share P moves (n-1) P + S - P each way",
          .sent_bytes = 2 * (n - 1) / n * all,
          .busiest_sent_bytes = busiest,
          .busiest_received_bytes = busiest};
}

device::MemoryByUse memory(const RunCase& run_case, const ParameterSizes& parameters, int rank) {
  const std::vector<std::int64_t> servers = shares(run_case, parameters.bytes);
  const std::int64_t bytes = sum_of(parameters.bytes);
  std::int64_t received = 0;  // the longest key that the rank serves
  for (const Key& key : plan_keys(run_case, parameters.bytes)) {
    std::int64_t size = 0;
    for (const std::size_t parameter : key.parameters) size += parameters.bytes[parameter];
    if (key.server == rank) received = std::max(received, size);
  }
  const auto server = static_cast<std::size_t>(rank);
  device::MemoryByUse memory;
  memory[device::MemoryUse::kParameters] = bytes;
  memory[device::MemoryUse::kGradients] = bytes + accumulator_bytes(run_case, bytes);
  memory[device::MemoryUse::kOptimizer] = server < servers.size() ? state_bytes(run_case, servers[server]) : 0;
  memory[device::MemoryUse::kBuckets] = received;
  return memory;
}

void check(const RunCase& run_case) {
  servers_of(run_case);
  const double servers = strategy_number(run_case, "servers", 1, 1, 1e6);
  if (servers == static_cast<int>(servers)) return;
  throw Error(ErrorCode::kBadInput,
              fmt::format("strategy ps: servers is {}, but it must be a whole number", servers));
}

}  // namespace

StrategyInfo parameter_server_strategy() {
  return {.name = "ps",
          .description = "parameter servers on the first ranks: gradients are pushed, parameters pulled",
          .options = {{"servers", "1", "over how many ranks, from the first on, the parameters are spread"}},
          .check = check,
          .make = [](const StrategySite& site) -> std::unique_ptr<Strategy> {
            return std::make_unique<ParameterServer>(site);
          },
          .traffic = traffic,
          .memory = memory};
}

}  // namespace ddbench::ddp
