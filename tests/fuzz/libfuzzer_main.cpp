// libFuzzer's entry points for one target: FUZZ_TARGET names it (kSpools, ...).
#include "fuzz_targets.h"

namespace {

constexpr unsigned kInputsPerBrokenChecksum = 16;  // one input in 16 keeps its broken checksums
constexpr unsigned kMutationsPerOneOfBytes = 8;

}  // namespace

extern "C" std::size_t LLVMFuzzerMutate(std::uint8_t* data, std::size_t size, std::size_t most);

extern "C" std::size_t LLVMFuzzerCustomMutator(std::uint8_t* data, std::size_t size, std::size_t most, unsigned seed) {
  const auto mutate = ddbench::fuzz::FUZZ_TARGET.mutate;
  if (mutate != nullptr && seed % kMutationsPerOneOfBytes != 0) return mutate({data, most}, size, seed);
  const std::size_t mutated = LLVMFuzzerMutate(data, size, most);
  const auto reseal = ddbench::fuzz::FUZZ_TARGET.reseal;
  if (reseal != nullptr && seed % kInputsPerBrokenChecksum != 0) reseal({data, mutated});
  return mutated;
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  ddbench::fuzz::FUZZ_TARGET.run({data, size});
  return 0;
}
