// What schedulers, their variables, servers and other processes of a job say: texts that decide how ddbench runs.
#include <sys/mman.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "analyzer/catalogue/sku_catalogue.h"
#include "analyzer/import/recognise/recognise.h"
#include "attempt.h"
#include "core/error.h"
#include "core/unique_handle.h"
#include "fuzz_targets.h"
#include "harness/cli/run/ds_config.h"
#include "harness/experiment/mlflow/tracking_run.h"
#include "harness/launch/control/tcp.h"
#include "harness/launch/jobfile/job_file.h"
#include "harness/launch/remote/slurm_job_end.h"
#include "harness/launch/start/placement.h"
#include "harness/launch/supervisor/flights.h"
#include "script.h"
#include "temporary_directory.h"

namespace ddbench::fuzz {
namespace {

void read_placement(std::string_view text) {
  launch::Variables variables;
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t equals = line.find('=');
    if (equals != std::string_view::npos) variables.emplace(line.substr(0, equals), line.substr(equals + 1));
  }
  attempt([&] {
    const launch::Placement placement = launch::read_placement(variables);
    if (!placement.found()) return;
    if (placement.world_size < 1 || placement.rank < 0 || placement.rank >= placement.world_size) std::abort();
    if (placement.local_world_size < 1 || placement.local_rank < 0 || placement.local_rank >= placement.local_world_size) std::abort();
  });
  attempt([&] { launch::first_of_nodes(std::string(text)); });
  attempt([&] { launch::endpoint_from(std::string(text)); });
}

void read_scheduler_output(std::string_view text) {
  launch::slurm_job_end(text);
  launch::is_still_running(text);
}

void fill_template(std::string_view text) {
  for (const job::Format format : {job::Format::kSbatch, job::Format::kAzureMl, job::Format::kKubeflow, job::Format::kCompose}) {
    attempt([&] {
      job::Job job;
      job.run_case.nodes = 2;
      job.image = "image";
      job.site_template = text;
      job::job_file(format, job);
    });
  }
}

void read_ds_config(std::string_view text) {
  const UniqueFd memory(::memfd_create("ds_config", MFD_CLOEXEC));
  if (::write(memory.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
  for (const int ranks : {0, 8}) attempt([&] { cli::read_ds_config("/proc/self/fd/" + std::to_string(memory.get()), ranks); });
}

/// Of --price, one a line.
void read_prices(std::string_view text) {
  static const analyzer::SkuCatalogue builtin = analyzer::SkuCatalogue::builtin();
  analyzer::SkuCatalogue catalogue = builtin;
  for (const std::string_view line : split(text, '\n')) attempt([&] { catalogue.set_price(line); });
}

/// A server that gives the answers of an input, one after the other: a status and a body.
class Answers final : public http::Client {
 public:
  explicit Answers(std::string_view text) : answers_(split(text, kRecordSeparator)) {}
  http::Response send(const http::Request&) override {
    const std::string_view answer = next_ < answers_.size() ? answers_[next_++] : std::string_view("503");
    const std::size_t blank = std::min(answer.find(' '), answer.size());
    return {static_cast<long>(number_in(answer)), std::string(answer.substr(std::min(blank + 1, answer.size())))};
  }

 private:
  std::vector<std::string_view> answers_;
  std::size_t next_ = 0;
};

void follow_tracking_server(std::string_view text) {
  experiment::TrackingRun run({.uri = "http://server"}, std::make_unique<Answers>(text), [] { return std::chrono::milliseconds(1000); });
  const experiment::TrackedMetric metric{"loss", 0.5, 1, 1};
  try {
    run.create("name", 1);
    if (!run.is_created()) std::abort();
    run.log(std::span(&metric, 1));
    run.log({{"steps", "8"}}, {{"tag", "value"}});
    run.end("FINISHED", 2);
  } catch (const Error&) {
  } catch (const experiment::TrackingRefused&) {
  }
}

void read_job_text(Bytes input) {
  if (input.empty()) return;
  const std::string_view text = text_of(input).substr(1);
  switch (input[0]) {
    case 'v': return read_placement(text);
    case 's': return read_scheduler_output(text);
    case 't': return fill_template(text);
    case 'd': return read_ds_config(text);
    case 'p': return read_prices(text);
    case 'm': return follow_tracking_server(text);
    default: break;
  }
}

/// Two processes' flight recorders, of which a hang is explained.
void read_flights(Bytes input) {
  const std::vector<std::string_view> rings = split(text_of(input), kRecordSeparator);
  std::vector<launch::ProcessFlight> processes;
  for (std::size_t i = 0; i < std::min<std::size_t>(rings.size(), 8); ++i) {
    if (rings[i].size() < 2) continue;
    launch::ProcessFlight& process = processes.emplace_back();
    process.started_rank = static_cast<int>(i % 4);
    process.pid = static_cast<std::int64_t>(i);
    process.is_stopped = (rings[i][0] & 1) != 0;
    process.is_over = (rings[i][0] & 2) != 0;
    process.later_ns = static_cast<std::int64_t>(rings[i][1]) * 1000;
    process.ring = rings[i].substr(2);
  }
  for (const bool per_node : {false, true}) {
    const auto flights = launch::flights_of(processes, 4, per_node);
    constexpr std::int64_t kNow_ns = 1'000'000'000'000;
    launch::stands_still(flights, std::chrono::seconds(5), kNow_ns);
    launch::stands_still_for_certain(flights, std::chrono::seconds(5), kNow_ns);
    launch::who_is_awaited(flights, kNow_ns);
    launch::why_they_stand(flights, kNow_ns);
    launch::flights_in_words(flights, kNow_ns);
  }
}

/// The file that `ddbench import` is given without a format.
void recognise_file(Bytes input) {
  static const test::TemporaryDirectory folder;
  const std::filesystem::path file = folder / "file";
  std::ofstream(file, std::ios::binary) << text_of(input);
  attempt([&] { imports::recognise(file); });
  attempt([&] { imports::recognise(folder.path()); });
  attempt([&] { imports::log_format_of(file); });
}

}  // namespace

const Target kJobTexts{"job_texts", read_job_text};
const Target kFlights{"flights", read_flights};
const Target kRecognise{"recognise", recognise_file};

}  // namespace ddbench::fuzz
