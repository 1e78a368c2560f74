// The dashboard, drawn offscreen by the raster engine. Goals: a frame of the timeline with 10 M spans in 16
// ms at every zoom (`of_16_ms` below 1); a store of 1,000 runs and 10 M spans shows its first useful page
// within 1 s (`of_1_s`); each page of 5,000 runs within 2 s (`of_2_s`); a frame of 2,048 ranks grouped by node in 8 ms
// (`of_8_ms`); a slider of "What if" redraws in 100 ms (`of_100_ms`); 500 MB.

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <QApplication>
#include <QElapsedTimer>
#include <QImage>
#include <QSlider>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>

#include "analyzer/import/table/table.h"
#include "gui/charts/figure_card.h"
#include "gui/pages/what_if_page.h"
#include "gui/timeline/timeline_view.h"
#include "gui/window/all_pages.h"
#include "gui/window/main_window.h"
#include "large_store.h"
#include "sample_store.h"
#include "temporary_directory.h"

namespace ddbench::gui {
namespace {

constexpr std::size_t kSpans = 10'000'000;
constexpr int kFramesATurn = 24;

/// Of this thread: other processes on the machine do not count.
double cpu_ms() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) * 1e3 + static_cast<double>(now.tv_nsec) / 1e6;
}

double peak_mb() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

/// Ranks that compute, and reduce buckets meanwhile: spans of 1 to 30 us close together, a hundred a step.
std::shared_ptr<const Timeline> ten_million_spans(int ranks) {
  TimelineBuilder builder;
  const std::vector<std::string> names{"linear_forward", "linear_backward", "all_reduce", "relu", "step"};
  const std::size_t of_rank = kSpans / static_cast<std::size_t>(ranks);
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<Span> spans;
    spans.reserve(of_rank);
    std::int64_t at = rank * 1000;
    std::uint64_t random = 88172645463325252ULL + static_cast<std::uint64_t>(rank);
    for (std::size_t i = 0; i < of_rank; ++i) {
      random ^= random << 13, random ^= random >> 7, random ^= random << 17;
      Span span;
      span.step = static_cast<std::uint32_t>(i / 100);
      span.kind = i % 4 == 3     ? SpanKind::kCommunication
                  : i % 100 < 40 ? SpanKind::kForward
                                 : SpanKind::kBackward;
      span.lane = i % 4 == 3 ? Lane::kCommunication : Lane::kMain;
      span.name_id = static_cast<std::uint32_t>(random % 4);
      span.begin_ns = at;
      span.end_ns = at + 1000 + static_cast<std::int64_t>(random % 29'000);
      if (span.lane == Lane::kMain) at = span.end_ns + static_cast<std::int64_t>(random % 700);
      spans.push_back(span);
    }
    store::RankRecord record;
    record.rank = rank;
    record.clock.shared_clock = true;
    builder.add_rank(record, spans, names);
  }
  return std::make_shared<const Timeline>(builder.finish());
}

const std::shared_ptr<const Timeline>& timeline_of(int ranks) {
  static int last = 0;
  static std::shared_ptr<const Timeline> timeline;
  if (last != ranks) {
    timeline.reset();
    timeline = ten_million_spans(ranks);
    last = ranks;
  }
  return timeline;
}

/// One frame each at places all over the timeline, at 1/10^zoom of its length; 1920 x 1000 pixels.
void timeline_frame(benchmark::State& state) {
  const auto& timeline = timeline_of(static_cast<int>(state.range(1)));
  TimelineView view;
  view.resize(1920, 1000);
  view.set_timeline(timeline);
  QImage frame(view.size(), QImage::Format_RGB32);
  const double whole = static_cast<double>(timeline->end_ns - timeline->begin_ns);
  const double length = whole * std::pow(10.0, -static_cast<double>(state.range(0)));
  double slowest_ms = 0;
  int turn = 0;
  for (auto unused : state) {
    const double begin =
        static_cast<double>(timeline->begin_ns) + (whole - length) * (turn++ % kFramesATurn) / kFramesATurn;
    const double before_ms = cpu_ms();
    view.show_window(begin, begin + length);
    view.render(&frame);
    slowest_ms = std::max(slowest_ms, cpu_ms() - before_ms);
  }
  state.counters["slowest_ms"] = slowest_ms;
  state.counters["of_16_ms"] = slowest_ms / 16;
  state.counters["peak_MB"] = peak_mb();
}

/// Nodes of 8 ranks that train a few steps of 60 operators and 10 collectives.
std::shared_ptr<const Timeline> cluster_of(int ranks) {
  TimelineBuilder builder;
  const std::vector<std::string> names{"linear_forward", "linear_backward", "all_reduce"};
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<Span> spans;
    for (std::uint32_t step = 0; step < 4; ++step) {
      const std::int64_t begin = step * 20'000'000LL + rank % 16 * 50'000;
      for (int i = 0; i < 60; ++i) {
        Span span;
        span.step = step;
        span.kind = i < 20 ? SpanKind::kForward : SpanKind::kBackward;
        span.name_id = i < 20 ? 0 : 1;
        span.begin_ns = begin + i * 200'000;
        span.end_ns = span.begin_ns + 190'000;
        spans.push_back(span);
        if (i < 20 || i % 4 != 0) continue;
        span.kind = SpanKind::kCommunication;
        span.lane = Lane::kCommunication;
        span.name_id = 2;
        span.end_ns = span.begin_ns + 1'100'000;
        spans.push_back(span);
      }
    }
    store::RankRecord record;
    record.rank = rank;
    record.node = rank / 8;
    record.clock.shared_clock = true;
    builder.add_rank(record, spans, names);
  }
  return std::make_shared<const Timeline>(builder.finish());
}

/// Frames of ranks that are grouped by node, collapsed or not, at 1/10^zoom of the run; 1920 x 1000 pixels.
void timeline_of_nodes(benchmark::State& state) {
  const double before_ms = cpu_ms();
  const auto timeline = cluster_of(static_cast<int>(state.range(0)));
  state.counters["build_ms"] = cpu_ms() - before_ms;
  std::size_t bytes = 0;
  for (const TimelineLane& lane : timeline->lanes) bytes += lane.bytes();
  for (const TimelineNode& node : timeline->nodes) bytes += node.mean.bytes();
  state.counters["drawing_MB"] = static_cast<double>(bytes) / 1e6;
  state.counters["spans"] = static_cast<double>(timeline->spans);
  TimelineView view;
  view.resize(1920, 1000);
  view.set_timeline(timeline);
  view.collapse_all(state.range(1) == 0);
  QImage frame(view.size(), QImage::Format_RGB32);
  const double whole = static_cast<double>(timeline->end_ns - timeline->begin_ns);
  const double length = whole * std::pow(10.0, -static_cast<double>(state.range(2)));
  double slowest_ms = 0;
  int turn = 0;
  for (auto unused : state) {
    const double begin =
        static_cast<double>(timeline->begin_ns) + (whole - length) * (turn++ % kFramesATurn) / kFramesATurn;
    const double frame_ms = cpu_ms();
    view.show_window(begin, begin + length);
    view.render(&frame);
    slowest_ms = std::max(slowest_ms, cpu_ms() - frame_ms);
  }
  state.counters["rows_drawn"] = view.rows_drawn();
  state.counters["slowest_ms"] = slowest_ms;
  state.counters["of_8_ms"] = slowest_ms / 8;
}

/// From a slider's movement on the page What if to the redrawn curve, up to 512 nodes.
void what_if_redraw(benchmark::State& state) {
  const test::TemporaryDirectory directory;
  {
    auto store = store::RunStore::open(directory / "results.db", store::OpenMode::kReadWrite);
    test::SampleRun run;
    run.run_case.nodes = 4;
    run.run_case.gpus_per_node = 2;
    run.run_case.steps = 60;
    test::add_sample_run(store, run);
  }
  MainWindow window({directory / "results.db", nullptr});
  window.resize(1280, 800);
  window.show();
  const auto settle = [&] {
    while (!window.is_settled()) QApplication::processEvents(QEventLoop::WaitForMoreEvents);
    QApplication::processEvents();
  };
  while (window.workspace().runs->empty()) QApplication::processEvents(QEventLoop::WaitForMoreEvents);
  window.open_page(PageId::kWhatIf);
  settle();
  auto& page = static_cast<WhatIfPage&>(window.page(PageId::kWhatIf));
  if (!page.error_text().isEmpty() || page.throughput().view().figure().series.empty())
    return state.SkipWithError("the page shows no curve");
  page.nodes().setValue(page.nodes().maximum());
  settle();
  double slowest_ms = 0;
  int move = 0;
  for (auto unused : state) {
    QElapsedTimer timer;
    timer.start();
    page.batch().setValue(page.batch().minimum() + ++move % 7);
    settle();
    benchmark::DoNotOptimize(page.throughput().grab());
    slowest_ms = std::max(slowest_ms, static_cast<double>(timer.nsecsElapsed()) / 1e6);
  }
  state.counters["slowest_ms"] = slowest_ms;
  state.counters["of_100_ms"] = slowest_ms / 100;
}

/// From nothing to a window that shows the runs.
void open_large_store(benchmark::State& state) {
  std::string directory = (std::filesystem::temp_directory_path() / "ddbench-bench-XXXXXX").string();
  if (::mkdtemp(directory.data()) == nullptr) return state.SkipWithError("no temporary directory");
  const std::filesystem::path file = std::filesystem::path(directory) / "large.db";
  test::make_large_store(file);
  double first_s = 0;
  double all_s = 0;
  for (auto unused : state) {
    QElapsedTimer timer;
    timer.start();
    MainWindow window({file, nullptr});
    window.resize(1280, 800);
    window.show();
    while (window.workspace().runs->empty()) QApplication::processEvents(QEventLoop::WaitForMoreEvents);
    benchmark::DoNotOptimize(window.grab());
    first_s = static_cast<double>(timer.nsecsElapsed()) / 1e9;
    while (!window.is_settled()) QApplication::processEvents(QEventLoop::WaitForMoreEvents);
    all_s = static_cast<double>(timer.nsecsElapsed()) / 1e9;
  }
  state.counters["of_1_s"] = first_s;
  std::error_code ignored;
  std::filesystem::remove_all(directory, ignored);
  state.counters["all_measured_s"] = all_s;
  state.counters["peak_MB"] = peak_mb();
}

/// Runs of a sweep and its history: names, sizes, networks and batch sizes vary.
std::string table_of(int rows) {
  std::string text = "name,workload,nodes,gpus_per_node,batch_per_gpu,link,sku,step_time_ms\n";
  for (int i = 0; i < rows; ++i) {
    text += fmt::format("night{},model{},{},{},{},{},{},{:.4f}\n", i % 50, i % 7, 1 << (i % 5), 1 << (i % 4),
                        32 << (i % 4), i % 3 == 0 ? "" : "1gbit", i % 2 == 0 ? "Standard_ND96asr_v4" : "",
                        20 + 5 * std::abs(std::sin(i)));
  }
  return text;
}

/// From the choice of a page to its last figure, in a store of 5,000 runs, all of them chosen.
void open_page_of_5000_runs(benchmark::State& state) {
  const test::TemporaryDirectory directory;
  const std::filesystem::path file = directory / "results.db";
  const std::string text = table_of(5000);
  imports::import_runs(
      file, [&](const imports::TakeRun& take) { imports::read_table(text, "table.csv", {}, take); }, text,
      "table.csv");
  MainWindow window({file, nullptr});
  window.resize(1280, 800);
  window.show();
  const auto settle = [&] {
    while (!window.is_settled()) QApplication::processEvents(QEventLoop::WaitForMoreEvents);
    QApplication::processEvents();
  };
  while (window.workspace().runs->empty()) QApplication::processEvents(QEventLoop::WaitForMoreEvents);
  settle();
  const auto page = static_cast<PageId>(state.range(0));
  if (page == PageId::kOverview) window.open_page(PageId::kSpeedup), settle();
  double took_s = 0;
  for (auto unused : state) {
    QElapsedTimer timer;
    timer.start();
    window.open_page(page);
    settle();
    benchmark::DoNotOptimize(window.grab());
    took_s = static_cast<double>(timer.nsecsElapsed()) / 1e9;
  }
  state.SetLabel(page_title(page).toStdString());
  state.counters["of_2_s"] = took_s / 2;
  state.counters["peak_MB"] = peak_mb();
}

double resident_kb() {
  std::ifstream statm("/proc/self/statm");
  double size = 0;
  double resident = 0;
  statm >> size >> resident;
  return resident * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1024;
}

analyzer::Figure curves(int refresh) {
  analyzer::Figure figure{"Speedup over GPUs", {"GPUs", "1", true}, {"speedup", "1", true}, {}, {"of a benchmark"}};
  for (const char* name : {"ideal", "no link", "10gbit", "1gbit"}) {
    analyzer::Series series{name, analyzer::SeriesShape::kLine, {}, {}};
    for (int gpus = 1; gpus <= 64; gpus *= 2) series.points.push_back({1.0 * gpus, gpus * (1 - 0.001 * (refresh % 9)), {}, {}});
    figure.series.push_back(std::move(series));
  }
  return figure;
}

analyzer::Figure bars_of_ranks(int ranks, int parts) {
  analyzer::Figure figure{"Where a step goes, by rank", {"rank", "1"}, {"step", "ms"}, {}, {}};
  for (int part = 0; part < parts; ++part) {
    analyzer::Series series{fmt::format("part {}", part), analyzer::SeriesShape::kStackedBars, {}, {}};
    for (int rank = 0; rank < ranks; ++rank)
      series.points.push_back({1.0 * rank, 1 + 0.01 * ((rank * 7 + part) % 13), {}, fmt::format("rank {}", rank)});
    figure.series.push_back(std::move(series));
  }
  return figure;
}

void handle_events() {
  QApplication::processEvents();
  QApplication::sendPostedEvents(nullptr, QEvent::DeferredDelete);
}

/// A card whose figure is refreshed, as in a live run. The first refreshes fill caches.
void refresh_figure(benchmark::State& state) {
  FigureCard card;
  card.resize(620, 380);
  card.show();
  int refresh = 0;
  const auto once = [&] {
    card.set_figure(curves(refresh++));
    benchmark::DoNotOptimize(card.grab());
    handle_events();
  };
  for (int i = 0; i < 300; ++i) once();
  const double before_kb = resident_kb();
  for (auto unused : state) once();
  state.counters["kB_a_refresh"] = (resident_kb() - before_kb) / static_cast<double>(state.iterations());
}

/// A frame of a chart with a stacked bar for each of many ranks, as when the pointer moves over it.
void bars_frame(benchmark::State& state) {
  ChartView view;
  view.resize(1240, 700);
  view.set_figure(bars_of_ranks(static_cast<int>(state.range(0)), 9));
  view.show();
  handle_events();
  QImage frame(view.size(), QImage::Format_RGB32);
  double slowest_ms = 0;
  for (auto unused : state) {
    const double before_ms = cpu_ms();
    static_cast<QWidget&>(view).render(&frame);
    slowest_ms = std::max(slowest_ms, cpu_ms() - before_ms);
  }
  state.counters["slowest_ms"] = slowest_ms;
  state.counters["of_16_ms"] = slowest_ms / 16;
}

BENCHMARK(refresh_figure)->Unit(benchmark::kMillisecond)->Iterations(1500);
BENCHMARK(bars_frame)->ArgName("ranks")->Arg(64)->Arg(512)->Unit(benchmark::kMillisecond)->Iterations(20);
BENCHMARK(timeline_frame)
    ->ArgNames({"zoom", "ranks"})
    ->ArgsProduct({{0, 1, 2, 3, 4, 5, 6}, {8, 64}})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(2 * kFramesATurn);
BENCHMARK(timeline_of_nodes)
    ->ArgNames({"ranks", "expanded", "zoom"})
    ->ArgsProduct({{512, 2048}, {0, 1}, {0, 1, 2}})
    ->Unit(benchmark::kMillisecond)
    ->Iterations(2 * kFramesATurn);
BENCHMARK(what_if_redraw)->Unit(benchmark::kMillisecond)->Iterations(14);
BENCHMARK(open_large_store)->Unit(benchmark::kMillisecond)->Iterations(1);
BENCHMARK(open_page_of_5000_runs)
    ->ArgName("page")
    ->DenseRange(0, kPageCount - 1)
    ->Unit(benchmark::kMillisecond)
    ->Iterations(1);

}  // namespace
}  // namespace ddbench::gui

int main(int argc, char** argv) {
  qputenv("QT_QPA_PLATFORM", "offscreen");
  QApplication app(argc, argv);
  ddbench::gui::set_theme(false);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
