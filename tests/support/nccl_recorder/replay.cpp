#include "replay.h"

#include <dlfcn.h>

#include <deque>
#include <stdexcept>
#include <vector>

#include "held_clock.h"

namespace ddbench::nccl_recorder {
namespace {

// NCCL's, too, is one for all communicators. A plug-in may write it as long as the process lives.
int mask = 0;

class Replay {
 public:
  Replay(const Recording& recording, const std::filesystem::path& plugin)
      : recording_(recording),
        module_(::dlopen(plugin.c_str(), RTLD_NOW | RTLD_LOCAL)),
        returned_(recording.calls().size()),
        threads_(recording.threads()) {
    if (module_ == nullptr) throw std::runtime_error(::dlerror());
  }

  void run() {
    for (const RecordedCall& call : recording_.calls()) {
      switch (call.version) {
        case 3: make<3>(call); break;
        case 4: make<4>(call); break;
        case 5: make<5>(call); break;
        case 6: make<6>(call); break;
        default: make<7>(call); break;
      }
    }
  }

 private:
  template <int kVersion>
  void make(const RecordedCall& call) {
    auto& plugin = version<kVersion>();
    void* const of = call.is(kStart) || call.is(kFinalize)
                         ? resolve(call.reference("context"))
                         : (call.is(kInit) ? nullptr : resolve(call.reference("handle")));
    void*& returned = returned_[static_cast<std::size_t>(&call - recording_.calls().data())];
    if (call.is(kInit)) {
      at(call, [&] { init<kVersion>(plugin, call, returned); });
    } else if (call.is(kStart)) {
      auto event = read_event<typename Interface<kVersion>::Event>(
          call, [this](const Reference& reference) { return resolve(reference); });
      at(call, [&] { plugin.startEvent(of, &returned, &event); });
    } else if (call.is(kStop)) {
      at(call, [&] { plugin.stopEvent(of); });
    } else if (call.is(kState)) {
      nccl::StateArgs arguments{};
      const Json& argument = call.fields.at("argument");
      if (!argument.is_null()) arguments.kernelCh.pTimer = argument.get<std::uint64_t>();
      const int state = call.fields.at("state").get<int>();
      at(call, [&] { plugin.recordEventState(of, state, argument.is_null() ? nullptr : &arguments); });
    } else {
      at(call, [&] { plugin.finalize(of); });
    }
  }

  template <int kVersion>
  void init(typename Interface<kVersion>::Plugin& plugin, const RecordedCall& call, void*& context) {
    const auto number = [&call](const char* name) { return call.fields.at(name).template get<int>(); };
    if constexpr (kVersion == 3) {
      plugin.init(&context, &mask);
    } else {
      const auto id = call.fields.at("communicator").template get<std::uint64_t>();
      const Json& name_field = call.fields.at("name");
      const char* const name =
          name_field.is_null() ? nullptr : name_field.template get_ref<const std::string&>().c_str();
      if constexpr (kVersion == 4) {
        plugin.init(&context, &mask, name, id, number("nodes"), number("ranks"), number("rank"), nullptr);
      } else {
        plugin.init(&context, id, &mask, name, number("nodes"), number("ranks"), number("rank"), nullptr);
      }
    }
  }

  template <int kVersion>
  typename Interface<kVersion>::Plugin& version() {
    void* const found = ::dlsym(module_, Interface<kVersion>::kSymbol);
    if (found == nullptr) throw std::runtime_error(std::string("no ") + Interface<kVersion>::kSymbol);
    return *static_cast<typename Interface<kVersion>::Plugin*>(found);
  }

  void* resolve(const Reference& reference) const {
    return reference.call ? returned_[*reference.call] : reference.address;
  }

  template <typename Call>
  void at(const RecordedCall& call, const Call& make_call) {
    threads_[call.thread].make([&] {
      hold_clock(kReplayBegins_ns + call.time_ns);
      make_call();
      hold_clock(0);
    });
  }

  const Recording& recording_;
  void* const module_;  // never closed
  std::vector<void*> returned_;
  std::deque<CallingThread> threads_;
};

}  // namespace

CallingThread::~CallingThread() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void CallingThread::make(const std::function<void()>& call) {
  std::unique_lock lock(mutex_);
  call_ = &call;
  changed_.notify_all();
  changed_.wait(lock, [this] { return call_ == nullptr; });
}

void CallingThread::run() {
  std::unique_lock lock(mutex_);
  for (;;) {
    changed_.wait(lock, [this] { return ends_ || call_ != nullptr; });
    if (call_ == nullptr) return;
    (*call_)();
    call_ = nullptr;
    changed_.notify_all();
  }
}

void replay(const Recording& recording, const std::filesystem::path& plugin) {
  Replay(recording, plugin).run();
}

}  // namespace ddbench::nccl_recorder
