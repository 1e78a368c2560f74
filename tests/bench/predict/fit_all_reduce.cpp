// How well latency and bandwidth by size regime (fit_alpha_beta) describe measured tables of all_reduce:
//
//     bench_fit_all_reduce RANKS TABLE.csv [RANKS TABLE.csv ...]
//
// A table has a header and rows "bytes,count,type,time in ns,bus bandwidth[,time in ns,bus bandwidth]". Prints the median
// and 90th percentile of the relative error over the sizes of the fit, and the same at sizes that were left out of it
// (every second one).

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "analyzer/collectives/alpha_beta.h"
#include "analyzer/import/table/csv.h"
#include "analyzer/statistics/statistics.h"
#include "core/error.h"
#include "core/text/number.h"

namespace ddbench {
namespace {

std::vector<analyzer::TimedSize> sizes_of(const std::string& file) {
  std::ifstream stream(file);
  const std::string text{std::istreambuf_iterator<char>(stream), {}};
  imports::CsvReader reader(text, file);
  std::vector<analyzer::TimedSize> sizes;
  for (imports::CsvRow row; reader.next(row);) {
    analyzer::TimedSize size{"ring", number_from<double>(row.cells.at(0)).value_or(0), {}};
    for (const std::size_t column : {3U, 5U}) {
      if (column < row.cells.size()) size.time_ns.push_back(number_from<double>(row.cells[column]).value_or(0));
    }
    sizes.push_back(std::move(size));
  }
  return sizes;
}

std::vector<double> errors_of(const analyzer::AlphaBetaFit& fit, const std::vector<analyzer::TimedSize>& sizes) {
  std::vector<double> errors;
  for (const analyzer::TimedSize& size : sizes) {
    auto regime = fit.regimes.begin();
    while (std::next(regime) != fit.regimes.end() && size.bytes > regime->to_bytes) ++regime;
    const double said = regime->latency_ns + size.bytes * regime->ns_per_byte;
    errors.push_back(std::abs(said / analyzer::mean(size.time_ns) - 1));
  }
  std::sort(errors.begin(), errors.end());
  return errors;
}

void report(const char* what, const std::vector<double>& errors) {
  fmt::print("  {:18} {:4} sizes  median {:5.2f}%  90th percentile {:5.2f}%\n", what, errors.size(),
             100 * analyzer::quantile(errors, 0.5), 100 * analyzer::quantile(errors, 0.9));
}

void fit_table(int ranks, const std::string& file) {
  const std::vector<analyzer::TimedSize> all = sizes_of(file);
  std::vector<analyzer::TimedSize> even;
  std::vector<analyzer::TimedSize> odd;
  for (std::size_t i = 0; i < all.size(); ++i) (i % 2 == 0 ? even : odd).push_back(all[i]);
  const auto whole = analyzer::fit_alpha_beta(all, ranks).at(0);
  fmt::print("{} ({} ranks): {} regimes\n", file, ranks, whole.regimes.size());
  if (whole.regimes.empty()) return;
  report("fitted", errors_of(whole, all));
  report("left out", errors_of(analyzer::fit_alpha_beta(even, ranks).at(0), odd));
}

}  // namespace
}  // namespace ddbench

int main(int argc, char** argv) {
  try {
    for (int i = 1; i + 1 < argc; i += 2) ddbench::fit_table(std::atoi(argv[i]), argv[i + 1]);
  } catch (const ddbench::Error& error) {
    fmt::print(stderr, "{}\n", error.message());
    return 2;
  }
  return 0;
}
