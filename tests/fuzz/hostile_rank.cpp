// The launcher against ranks that send anything, over real sockets.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/run_case/program_case.h"
#include "core/version/build_identity.h"
#include "fuzz_targets.h"
#include "harness/launch/control/rank_acceptor.h"
#include "harness/launch/control/tcp.h"
#include "harness/launch/supervisor/supervisor.h"
#include "harness/launch/trust/frame_stream.h"
#include "outside_watch.h"
#include "script.h"
#include "temporary_directory.h"

namespace ddbench::fuzz {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using namespace launch;

constexpr const char* kSecret = "correct horse battery";
constexpr const char* kRunId = "20261121T020000-00abc000";

/// What the first record of an input chooses: a letter each.
struct Setting {
  explicit Setting(std::string_view flags) {
    const auto has = [flags](char flag) { return flags.find(flag) != std::string_view::npos; };
    remote = has('r');
    has_secret = has('s');
    impatient = has('i');
    run_case.gpus_per_node = has('4') ? 4 : 2;
    run_case.nodes = has('n') ? 2 : 1;
    run_case.steps = 8;
    run_case.warmup = 1;
    if (has('c')) run_case.checkpoint_every = 2;
    if (has('m')) run_case.margin = 0.05;
    if (has('p')) set_program(run_case, {"train"});
    interrupted = has('x');
    preempted = has('y');
    asked = has('w');
  }

  bool remote = false;
  bool has_secret = false;
  bool impatient = false;  ///< each silence of a rank counts at once
  bool interrupted = false;
  bool preempted = false;
  bool asked = false;
  RunCase run_case;
};

/// One end of a connection that is not the launcher's.
class Peer {
 public:
  void own(UniqueFd socket) { socket_ = std::move(socket); }
  bool is_connected() const { return static_cast<bool>(socket_); }

  /// False where the machine has no port left for it: that is no finding.
  bool connect(const Endpoint& to) {
    socket_.reset(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = ::htons(static_cast<std::uint16_t>(to.port));
    address.sin_addr.s_addr = ::htonl(INADDR_LOOPBACK);
    // A reset at the end: thousands of connections a minute leave no ports waiting.
    const linger reset{1, 0};
    ::setsockopt(socket_.get(), SOL_SOCKET, SO_LINGER, &reset, sizeof reset);
    if (::connect(socket_.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) socket_.reset();
    seal_.reset();
    handshake_.reset();
    return is_connected();
  }

  void send(std::string_view bytes) const {
    static_cast<void>(::send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
  }

  /// A frame with the tag that it needs. "@V" in it is this build's version, without which no rank is taken.
  void send_frame(std::string_view text) {
    std::string payload(text);
    if (const std::size_t at = payload.find("@V"); at != std::string::npos) payload.replace(at, 2, build_version());
    const std::uint32_t length = ::htonl(static_cast<std::uint32_t>(payload.size()));
    const std::string header(reinterpret_cast<const char*>(&length), sizeof length);
    std::string frame = header + payload;
    if (seal_) frame += seal_->next_tag(header, payload);
    send(frame);
  }

  /// As an honest rank begins.
  void introduce(int rank, int world_size, std::string_view secret) {
    handshake_.emplace(secret, Introduction{.rank = rank, .world_size = world_size, .job = {}});
    send(handshake_->hello());
  }

  /// Goes on with the handshake once the launcher's challenge has come.
  void answer() {
    if (!handshake_ || seal_) return;
    char challenge[kChallengeBytes];
    if (::recv(socket_.get(), challenge, sizeof challenge, MSG_DONTWAIT) != static_cast<ssize_t>(sizeof challenge)) return;
    try {
      send(handshake_->answer({challenge, sizeof challenge}));
      seal_.emplace(handshake_->keys().sending);
    } catch (const Error&) {
      handshake_.reset();
    }
  }

  void end() const {
    if (socket_) ::shutdown(socket_.get(), SHUT_WR);
  }
  void read_some() const {
    char buffer[4096];
    while (socket_ && ::recv(socket_.get(), buffer, sizeof buffer, MSG_DONTWAIT) > 0) {
    }
  }

 private:
  UniqueFd socket_;
  std::optional<RankHandshake> handshake_;
  std::optional<FrameSeal> seal_;
};

/// The ranks as an input wants them. Each look of the launcher is one record: an action, a rank and what it sends.
///   m  a message, as a frame with its tag     r  bytes as they are     c  connects, with the handshake
///   k  connects without it                    e  ends its connection   x  its process ends with this status
///   d  reads what it was sent                 g  everything is gone    f  the fabric fails
class HostileRanks final : public RankProcesses {
 public:
  HostileRanks(const Setting& setting, std::vector<std::string_view> script)
      : setting_(setting),
        script_(std::move(script)),
        peers_(static_cast<std::size_t>(setting.run_case.world_size())),
        ready_(::eventfd(1, EFD_CLOEXEC)) {
    if (!setting.remote) return;
    const Credentials credentials{.token = setting.has_secret ? kSecret : "", .job = {}};
    acceptor_.emplace(Endpoint{"127.0.0.1", 0}, RunCredentials{.started = credentials, .others = std::nullopt},
                      setting.run_case.world_size());
  }

  /// The launcher's ends of the sockets of ranks on this machine.
  std::vector<UniqueFd> sockets() {
    std::vector<UniqueFd> launchers;
    for (Peer& peer : peers_) {
      if (setting_.remote) break;
      int ends[2] = {-1, -1};
      if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
      launchers.emplace_back(ends[0]);
      peer.own(UniqueFd(ends[1]));
    }
    return launchers;
  }

  void launch() override {}
  void kill(int rank) override { events_.push_back({FabricEvent::Kind::kExited, rank, 9, {}}); }
  std::vector<FabricEvent> read_events() override {
    for (Peer& peer : peers_) peer.answer();
    if (next_ < script_.size()) {
      act(script_[next_++]);
    } else {
      end_all();
    }
    return std::exchange(events_, {});
  }
  std::vector<int> watched() const override { return {ready_.get()}; }
  bool gone() const noexcept override { return gone_; }
  const std::map<std::string, std::string>& facts() const noexcept override { return facts_; }
  void finish(std::chrono::milliseconds) override {}
  bool remote() const noexcept override { return setting_.remote; }
  std::string address_of(const Hello& hello, int) const override { return hello.address; }
  std::vector<Arrival> take_arrivals() override { return acceptor_ ? acceptor_->take_arrivals() : std::vector<Arrival>{}; }

 private:
  void act(std::string_view record) {
    if (record.size() < 2) return;
    const int rank = (record[1] & 0xf) % static_cast<int>(peers_.size());
    Peer& peer = peers_[static_cast<std::size_t>(rank)];
    const std::string_view rest = record.substr(2);
    const char action = record[0];
    if ((action == 'c' || action == 'k') && acceptor_) {
      if (!peer.connect(acceptor_->endpoint())) return;
      if (action == 'k') return peer.send(rest);
      peer.introduce(rest.empty() ? rank : static_cast<int>(number_in(rest)), setting_.run_case.world_size(),
                     setting_.has_secret ? kSecret : "");
    } else if (action == 'x') {
      events_.push_back({FabricEvent::Kind::kExited, rank, static_cast<int>(number_in(rest)), {}});
    } else if (action == 'f') {
      events_.push_back({FabricEvent::Kind::kFailed, -1, 0, std::string(rest)});
    } else if (action == 'g') {
      gone_ = true;
    } else if (peer.is_connected()) {
      if (action == 'm') peer.send_frame(rest);
      if (action == 'r') peer.send(rest);
      if (action == 'e') peer.end();
      if (action == 'd') peer.read_some();
    }
  }

  /// After the last record: the connections end, and then the processes that are left.
  void end_all() {
    if (looks_after_end_++ == 0) {
      for (const Peer& peer : peers_) peer.end();
    } else if (looks_after_end_ > 3) {
      for (int rank = 0; rank < static_cast<int>(peers_.size()); ++rank) events_.push_back({FabricEvent::Kind::kExited, rank, 0, {}});
    }
  }

  const Setting& setting_;
  std::vector<std::string_view> script_;
  std::size_t next_ = 0;
  int looks_after_end_ = 0;
  std::vector<Peer> peers_;
  UniqueFd ready_;  // always readable: nothing waits
  std::optional<RankAcceptor> acceptor_;
  std::vector<FabricEvent> events_;
  std::map<std::string, std::string> facts_;
  bool gone_ = false;
};

class Observer final : public LaunchObserver {
 public:
  explicit Observer(const Setting& setting) : setting_(setting) {}
  void on_network(const std::string&, const std::string&) override {}
  void on_progress(const RankProgress& progress) override { check(progress.rank); }
  void on_own_time(int rank, const RankOwnTime&) override { check(rank); }
  void on_tick() override {}
  bool interrupted() override { return setting_.interrupted && ++looks_ > 20; }
  bool preempted() override { return setting_.preempted && ++looks_ > 12; }
  bool asked_where() override { return setting_.asked && ++looks_ % 8 == 0; }

 private:
  void check(int rank) const {
    if (rank < 0 || rank >= setting_.run_case.world_size()) std::abort();
  }
  const Setting& setting_;
  int looks_ = 0;
};

void supervise(Bytes input) {
  static const test::TemporaryDirectory directory;
  static const fs::path run = directory.path() / "run";
  static const OutsideWatch watch = [] {
    std::ofstream(directory.path() / "thesis.txt") << "four years";
    return OutsideWatch(directory.path(), [](const std::string& name) { return name.starts_with("run"); });
  }();
  std::vector<std::string_view> script = split(text_of(input), kRecordSeparator);
  const Setting setting(script.front());
  script.erase(script.begin());
  fs::create_directory(run);
  LaunchOptions options;
  options.run_id = kRunId;
  options.run_directory = run;
  options.executable = "/bin/false";
  options.start_deadline = 10s;
  if (setting.impatient) options.watchdog = options.grace = options.preemption_grace = 0ms;
  Observer observer(setting);
  HostileRanks ranks(setting, std::move(script));
  try {
    const LaunchOutcome outcome = Supervisor(setting.run_case, options, observer, ranks, ranks.sockets()).run();
    if (static_cast<int>(outcome.ranks.size()) != setting.run_case.world_size()) std::abort();
  } catch (const Error&) {
    // refused: as good as supervised
  }
  for (const auto& entry : fs::directory_iterator(run)) {
    if (!entry.path().filename().string().starts_with("rank") || !entry.is_regular_file()) std::abort();
  }
  fs::remove_all(run);
  watch.expect_untouched();
}

}  // namespace

const Target kHostileRanks{"hostile_ranks", supervise};

}  // namespace ddbench::fuzz
