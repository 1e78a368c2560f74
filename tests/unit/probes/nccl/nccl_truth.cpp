#include "nccl_truth.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/span.h"
#include "replay.h"

namespace ddbench::nccl {
namespace {

using nccl_recorder::RecordedCall;
using nccl_recorder::Reference;

// NCCL reports an operation once its kernel is launched, which may run by then.
constexpr std::int64_t kEarly_ns = 200'000;
constexpr std::int64_t kMostDrift = 10'000;  // of the GPU's clock: one in so many

const std::map<std::string, std::uint64_t> kTypeBytes = {
    {"ncclInt8", 1},    {"ncclUint8", 1},   {"ncclInt32", 4},      {"ncclUint32", 4},
    {"ncclInt64", 8},   {"ncclUint64", 8},  {"ncclFloat16", 2},    {"ncclBfloat16", 2},
    {"ncclFloat32", 4}, {"ncclFloat64", 8}, {"ncclFloat8e4m3", 1}, {"ncclFloat8e5m2", 1}};

struct Followed {
  TrueOperation truth;
  std::uint64_t type = 0;
  std::string communicator;
  std::uint64_t context = 0;
  int channels = 0;  ///< as stated by NCCL; 0: not stated
  int begun = 0;
  int open = 0;
  int proxies = 0;
  std::int64_t network = 0;
  std::int64_t first_timer = 0;
  std::int64_t last_timer = 0;
  bool has_timers = false;
  bool newer_began = false;
  bool over = false;

  bool is_reported() const { return truth.queued_ns && begun > 0 && begun >= channels && open == 0; }
};

struct HostCall {
  std::int64_t begin_ns = 0;
  std::optional<std::uint64_t> context;
};

/// Goes through the calls in their order.
class Walk {
 public:
  Walk(const nccl_recorder::Recording& recording, NcclTruth& truth)
      : calls_(recording.calls()), truth_(truth) {
    for (const RecordedCall& call : calls_) {
      now_ns_ = call.time_ns;
      if (call.is(nccl_recorder::kInit)) ++open_;
      if (call.is(nccl_recorder::kStart)) start(call);
      if (call.is(nccl_recorder::kState)) state(call);
      if (call.is(nccl_recorder::kStop)) stop(call);
      if (call.is(nccl_recorder::kFinalize)) finalize(call);
    }
    for (Followed& reported : followed_) end(reported);
    find_stale();
  }

 private:
  static std::int64_t at_ns(const RecordedCall& call) {
    return nccl_recorder::kReplayBegins_ns + call.time_ns;
  }

  void start(const RecordedCall& call) {
    switch (call.type()) {
      case kColl:
      case kP2p: {
        // To itself: a copy.
        if (call.type() == kP2p && call.fields.at("peer") == call.fields.at("rank")) return;
        return add_operation(call);
      }
      case kGroupApi:
      case kKernelLaunch: host_calls_[number(call)] = {at_ns(call), call.reference("context").call}; return;
      case kKernelCh:
      case kProxyOp:
      case kProxyStep:
      case kNetPlugin: return add_part(call);
      default: return;
    }
  }

  void add_operation(const RecordedCall& call) {
    const auto& fields = call.fields;
    const RecordedCall& init = calls_.at(call.reference("context").call.value());
    Followed reported;
    reported.type = call.type();
    reported.context = number(init);
    reported.truth.enqueued_ns = at_ns(call);
    const bool names_communicator = fields.contains("commHash");
    const auto id =
        (names_communicator ? fields.at("commHash") : init.fields.at("communicator")).get<std::uint64_t>();
    reported.communicator =
        std::to_string(id) + " of rank " + (names_communicator ? fields : init.fields).at("rank").dump();
    const auto function = fields.at("func").get<std::string>();
    NcclEvent& event = reported.truth.event;
    event.function = nccl_function(function);
    reported.truth.bytes =
        fields.at("count").get<std::uint64_t>() * kTypeBytes.at(fields.at("datatype").get<std::string>());
    if (function == "AllGather" || function == "ReduceScatter" || function == "AlltoAll") {
      reported.truth.bytes *=
          names_communicator ? 0 : init.fields.at("ranks").get<std::uint64_t>();  // not known: 0
    }
    if (fields.contains("nChannels")) reported.channels = fields.at("nChannels").get<int>();
    if (reported.type == kColl) {
      event.algorithm = text(fields.at("algo"));
      event.protocol = text(fields.at("proto"));
      const int function_number = nccl_function_number(event.function);
      if (function_number != 0) {
        reported.truth.key =
            collective_key(fold_communicator(id),
                           nccl_sequence(function_number, fields.at("seqNumber").get<std::uint64_t>()));
      }
    }
    if (const Reference parent = call.reference("parentObj"); parent.call) {
      const RecordedCall& api = calls_.at(*parent.call);
      const bool is_call = api.type() == kCollApi || api.type() == kP2pApi;
      reported.truth.captured = is_call && api.fields.at("graphCaptured").get<bool>();
    }
    of_call_[number(call)] = followed_.size();
    followed_.push_back(std::move(reported));
  }

  static std::string text(const nccl_recorder::Json& field) {
    return field.is_null() ? "" : field.get<std::string>();
  }
  std::uint64_t number(const RecordedCall& call) const {
    return static_cast<std::uint64_t>(&call - calls_.data());
  }

  /// Null where it is over, or no part of any.
  Followed* find(const Reference& handle) {
    const auto found = handle.call ? of_call_.find(*handle.call) : of_call_.end();
    return found != of_call_.end() && !followed_[found->second].over ? &followed_[found->second] : nullptr;
  }

  void add_part(const RecordedCall& call) {
    const std::uint64_t type = call.type();
    if (type == kProxyOp && call.fields.at("pid") == "foreign") {
      ++truth_.foreign_proxies;
      return;
    }
    const Reference parent = call.reference("parentObj");
    if (call.fields.at("parentObj").is_null()) return;
    Followed* const reported = find(parent);
    if (reported == nullptr) {
      truth_.unpaired += type == kKernelCh || type == kProxyOp;
      return;
    }
    of_call_[number(call)] = of_call_.at(*parent.call);
    if (type == kProxyOp) ++reported->proxies;
    if (type == kNetPlugin) reported->network = call.fields.at("id").get<std::int64_t>() >> 16;
    if (type == kKernelCh) begin_channel(*reported, call);
  }

  void begin_channel(Followed& reported, const RecordedCall& call) {
    if (reported.begun == 0) {
      // A communicator's operations run one after another.
      const auto self = static_cast<std::size_t>(&reported - followed_.data());
      const auto [newest, is_first] = newest_.try_emplace(reported.communicator, self);
      Followed& older = followed_[std::exchange(newest->second, self)];
      older.newer_began = !is_first;
      if (!is_first && older.is_reported()) end(older);
      reported.truth.begin_ns = at_ns(call);
    }
    ++reported.begun;
    ++reported.open;
    const std::uint64_t timer = call.fields.value("pTimer", std::uint64_t{0});
    if (timer == 0) return;
    see_timer(reported, static_cast<std::int64_t>(timer), call);
    reported.first_timer = reported.first_timer == 0 ? static_cast<std::int64_t>(timer)
                                             : std::min(reported.first_timer, static_cast<std::int64_t>(timer));
  }

  void state(const RecordedCall& call) {
    Followed* const reported = find(call.reference("handle"));
    const auto& argument = call.fields.at("argument");
    if (reported == nullptr || call.fields.at("state") != kStateKernelChStop || argument.is_null()) return;
    const auto timer = static_cast<std::int64_t>(argument.get<std::uint64_t>());
    if (timer == 0) return;
    see_timer(*reported, timer, call);
    reported->last_timer = std::max(reported->last_timer, timer);
  }

  void see_timer(Followed& reported, std::int64_t timer, const RecordedCall& call) {
    reported.has_timers = true;
    if (!reported.truth.captured) least_offset_ns_ = std::min(least_offset_ns_, at_ns(call) - timer);
  }

  void stop(const RecordedCall& call) {
    const Reference handle = call.reference("handle");
    if (!handle.call) {
      truth_.unpaired += handle.address != nullptr;
      return;
    }
    const std::uint64_t type = calls_.at(*handle.call).type();
    if (type == kGroupApi || type == kKernelLaunch) return end_host_call(*handle.call, type, at_ns(call));
    if (type != kColl && type != kP2p && type != kKernelCh) return;
    Followed* const reported = find(handle);
    if (reported == nullptr) {
      // What was never started has no handle of its own.
      truth_.unpaired += of_call_.contains(*handle.call);
      return;
    }
    if (type == kKernelCh) {
      reported->open = std::max(0, reported->open - 1);
      reported->truth.end_ns = at_ns(call);
    } else {
      reported->truth.queued_ns = at_ns(call);
    }
    if (reported->is_reported() && (reported->channels > 0 || reported->newer_began)) end(*reported);
  }

  void end_host_call(std::uint64_t started, std::uint64_t type, std::int64_t now) {
    const auto found = host_calls_.find(started);
    if (found == host_calls_.end()) {
      ++truth_.unpaired;
      return;
    }
    truth_.calls.emplace_back(type == kGroupApi ? "nccl_group" : "nccl_launch", found->second.begin_ns, now);
    host_calls_.erase(found);
  }

  void finalize(const RecordedCall& call) {
    const auto context = call.reference("context").call;
    if (!context) return;
    const bool is_last = --open_ == 0;
    for (Followed& reported : followed_) {
      // Contexts of version 3 are those of no communicator.
      if (is_last || (reported.context == *context && call.version > 3)) end(reported);
    }
    std::erase_if(host_calls_, [&](const auto& one) { return is_last || one.second.context == context; });
  }

  void end(Followed& reported) {
    if (reported.over) return;
    reported.over = true;
    truth_.unfinished += !reported.is_reported();
    TrueOperation& truth = reported.truth;
    truth.event.channels = reported.begun;
    truth.event.transport = reported.network == kNetInfiniband ? "infiniband"
                            : reported.network == kNetSocket   ? "socket"
                            : reported.proxies > 0             ? "proxy"
                            : reported.begun > 0               ? "direct"
                                                           : "";
    truth.timed = reported.first_timer != 0 && reported.last_timer >= reported.first_timer;
    if (truth.captured && reported.has_timers) {
      truth.duration_ns = 0;
      truth.timed = false;
      ++truth_.captured;
    } else if (truth.timed) {
      truth.duration_ns = reported.last_timer - reported.first_timer;
      truth.begin_ns = reported.first_timer;  // and the least offset, once it is known
      truth.latest_begin_ns = reported.first_timer + least_offset_ns_ + now_ns_ / kMostDrift;
    } else if (reported.begun > 0 && truth.end_ns >= truth.begin_ns) {
      truth.duration_ns = truth.end_ns - truth.begin_ns;
    }
    first_timers_.push_back(reported.first_timer);
    truth_.operations.push_back(truth);
  }

  /// What the pair of a callback and a timer with the least delay says of timers before the enqueueing.
  void find_stale() {
    for (std::size_t i = 0; i < truth_.operations.size(); ++i) {
      TrueOperation& operation = truth_.operations[i];
      if (operation.timed) operation.begin_ns += least_offset_ns_;
      if (operation.captured || first_timers_[i] == 0) continue;
      operation.stale = first_timers_[i] + least_offset_ns_ < operation.enqueued_ns - kEarly_ns;
      truth_.stale += operation.stale;
    }
  }

  const std::vector<RecordedCall>& calls_;
  NcclTruth& truth_;
  std::vector<Followed> followed_;
  std::map<std::uint64_t, std::size_t> of_call_;  ///< operations, by the calls of them and their parts
  std::map<std::uint64_t, HostCall> host_calls_;  ///< under way, by their calls
  std::map<std::string, std::size_t> newest_;     ///< operations that began last, by their communicators
  std::vector<std::int64_t> first_timers_;        ///< of truth_.operations
  std::int64_t least_offset_ns_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t now_ns_ = 0;  ///< since the recording began
  int open_ = 0;
};

}  // namespace

NcclTruth::NcclTruth(const nccl_recorder::Recording& recording) {
  Walk(recording, *this);
}

}  // namespace ddbench::nccl
