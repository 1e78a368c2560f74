#pragma once

namespace ddbench::analyzer {

/// The serial fraction (1/S - 1/N)/(1 - 1/N) of a strong-scaling speedup S on N processors (Karp and Flatt
/// 1990), as (N - S)/(S (N - 1)). What differs from ideal scaling by rounding only is 0. Throws Error{kBadInput} unless S > 0 and N > 1.
double karp_flatt(double speedup, double n);

}  // namespace ddbench::analyzer
