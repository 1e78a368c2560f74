// NCCL's calls of its profiler plug-in, with any values and in any order: the plug-in's real shared object.
#include <dlfcn.h>
#include <unistd.h>

#include <array>
#include <concepts>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "core/nccl_event.h"
#include "fuzz_targets.h"
#include "held_clock.h"
#include "probes/nccl/wanted_events.h"
#include "probes/preload/session/nccl_plugin.h"
#include "probes/preload/session/process_recorder.h"
#include "probes/recorder/recorder.h"
#include "probes/recorder/spool.h"
#include "recorded_call.h"
#include "script.h"
#include "temporary_directory.h"

namespace ddbench::fuzz {
namespace {

constexpr std::int64_t kBegins_ns = 1'000'000'000'000;
constexpr std::size_t kMostTexts = 4096;

// NCCL's, too, is one for all communicators, and the plug-in may write it as long as the process lives.
int mask = 0;

const char* kept(std::string_view text) {
  static std::set<std::string, std::less<>> texts;
  if (texts.size() >= kMostTexts) return "other";
  return texts.emplace(text).first->c_str();
}

const char* text_from(ByteCursor& input) {
  static constexpr std::array kWords = {"AllReduce", "AllGather", "ReduceScatter", "Broadcast", "Send",   "Recv",  "ncclFloat32",
                                        "ncclInt8",  "RING",      "TREE",          "LL128",     "SIMPLE", "Reduce"};
  const auto choice = input.take<std::uint8_t>();
  if (choice == 0) return nullptr;
  return choice <= kWords.size() ? kWords[choice - 1u] : kept(input.text(choice % 32u));
}

/// What the plug-in has returned to the calls of an input. It must recognise handles that are old or none.
struct Returned {
  std::vector<void*> contexts;
  std::vector<void*> handles;

  static void* one_of(const std::vector<void*>& values, ByteCursor& input) {
    return values.empty() ? nullptr : values[input.take<std::uint8_t>() % values.size()];
  }
  void* handle(ByteCursor& input) const {
    const auto choice = input.take<std::uint8_t>();
    if (choice == 0) return nullptr;
    if (choice == 1) return reinterpret_cast<void*>(input.take<std::uintptr_t>());
    return handles.empty() ? nullptr : handles[handles.size() - 1 - choice % handles.size()];
  }
};

/// Fills the members of an event.
class Members {
 public:
  Members(ByteCursor& input, const Returned& returned) : input_(input), returned_(returned) {}

  void operator()(const char*, const char*& text) const { text = text_from(input_); }
  void operator()(const char*, void*& address) const { address = reinterpret_cast<void*>(input_.take<std::uintptr_t>()); }
  void operator()(const char*, const void*& address) const { address = reinterpret_cast<void*>(input_.take<std::uintptr_t>()); }
  void operator()(const char*, bool& value) const { value = input_.take<std::uint8_t>() % 2 != 0; }
  template <std::integral Number>
  void operator()(const char*, Number& number) const {
    // Most of NCCL's numbers are small.
    const auto small = input_.take<std::uint8_t>();
    number = small < 200 ? static_cast<Number>(small) : input_.take<Number>();
  }
  void handle(const char*, void*& handle) const { handle = returned_.handle(input_); }
  void process(const char*, pid_t& pid) const { pid = input_.take<std::uint8_t>() % 2 == 0 ? ::getpid() : ::getpid() + 1; }

 private:
  ByteCursor& input_;
  const Returned& returned_;
};

/// The calls of one version of NCCL.
template <int kVersion>
class Calls {
 public:
  explicit Calls(ByteCursor& input) : input_(input) {
    void* const module = ::dlopen(DDBENCH_NCCL_PROFILER, RTLD_NOW | RTLD_LOCAL);
    plugin_ = module == nullptr ? nullptr : static_cast<Plugin*>(::dlsym(module, Interface::kSymbol));
    if (plugin_ == nullptr) std::abort();
  }

  void run() {
    open();
    while (!input_.at_end()) {
      now_ns_ += input_.take<std::uint16_t>() * std::int64_t{100};
      nccl_recorder::hold_clock(now_ns_);
      act();
    }
    for (void* context : returned_.contexts) plugin_->finalize(context);
  }

 private:
  using Interface = nccl_recorder::Interface<kVersion>;
  using Plugin = typename Interface::Plugin;

  void act() {
    switch (input_.take<std::uint8_t>() % 16) {
      case 0: return open();
      case 1: return static_cast<void>(plugin_->finalize(Returned::one_of(returned_.contexts, input_)));
      case 2:
      case 3:
      case 4:
      case 5: return static_cast<void>(plugin_->stopEvent(returned_.handle(input_)));
      case 6:
      case 7: return change_state();
      case 8: return pause();
      default: return start();
    }
  }

  void open() {
    if (returned_.contexts.size() == 4) return;
    void* context = nullptr;
    const auto id = std::uint64_t{input_.take<std::uint8_t>()};
    const auto ranks = input_.take<std::int16_t>();
    const auto rank = input_.take<std::int16_t>();
    if constexpr (kVersion == 3) {
      plugin_->init(&context, &mask);
    } else if constexpr (kVersion == 4) {
      plugin_->init(&context, &mask, text_from(input_), id, 1, ranks, rank, nullptr);
    } else {
      plugin_->init(&context, id, &mask, text_from(input_), 1, ranks, rank, nullptr);
    }
    returned_.contexts.push_back(context);
  }

  void start() {
    typename Interface::Event event{};
    const auto choice = input_.take<std::uint8_t>();
    event.type = static_cast<decltype(event.type)>(choice < 240 ? std::uint64_t{1} << (choice % 16) : input_.take<std::uint64_t>());
    event.parentObj = returned_.handle(input_);
    event.rank = input_.take<std::uint8_t>();
    Members members(input_, returned_);
    nccl_recorder::visit_fields(event, members);
    void* handle = nullptr;
    plugin_->startEvent(Returned::one_of(returned_.contexts, input_), &handle, &event);
    if (handle != nullptr) returned_.handles.push_back(handle);
  }

  /// The plug-in waits for a moment, which does not pass while the clock is held.
  void pause() {
    nccl_recorder::hold_clock(0);
    inject::pause_nccl_events(input_.take<std::uint8_t>() % 2 != 0);
    nccl_recorder::hold_clock(now_ns_);
  }

  void change_state() {
    nccl::StateArgs arguments{};
    input_.fill(arguments);
    const int state = input_.take<std::uint8_t>() % 32;
    void* const handle = returned_.handle(input_);
    plugin_->recordEventState(handle, state, input_.take<std::uint8_t>() % 8 == 0 ? nullptr : &arguments);
  }

  ByteCursor& input_;
  Plugin* plugin_ = nullptr;
  Returned returned_;
  std::int64_t now_ns_ = kBegins_ns;
};

void call(ByteCursor& input) {
  switch (input.take<std::uint8_t>() % 5) {
    case 0: return Calls<3>(input).run();
    case 1: return Calls<4>(input).run();
    case 2: return Calls<5>(input).run();
    case 3: return Calls<6>(input).run();
    default: return Calls<7>(input).run();
  }
}

/// What the plug-in recorded can be read back, and its events have names that ddbench knows.
void record_nccl(Bytes bytes) {
  static const test::TemporaryDirectory directory;
  const std::filesystem::path spool = directory / "rank0.spool";
  std::filesystem::remove(spool);
  ::setenv(nccl::kKernelEventsVariable, "1", 1);  // whatever the size of /dev/shm
  ByteCursor input(bytes);
  {
    host::Recorder recorder({spool, 1u << 10, 0, "fuzz"});
    inject::adopt_recorder(&recorder);
    call(input);
    nccl_recorder::hold_clock(0);
    inject::conclude_nccl_events();
    recorder.stop();
    inject::adopt_recorder(nullptr);
  }
  const host::SpoolBatch batch = host::SpoolReader(spool).read();
  if (batch.invalid != 0) std::abort();
  for (const Span& span : batch.spans) {
    if (span.kind == SpanKind::kNcclEvent && !parse_nccl_event(batch.new_names.at(span.name_id))) std::abort();
  }
}

}  // namespace

const Target kNcclCalls{"nccl_calls", record_nccl};

}  // namespace ddbench::fuzz
