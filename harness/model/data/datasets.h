#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "harness/model/dataset.h"

/// The data sets that workloads train on.
namespace ddbench::workload {

struct SyntheticOptions {
  std::int64_t size = 60'000;
  std::int64_t features = 784;
  std::int32_t classes = 10;
  std::uint64_t seed = 1;
};

/// A data set that can be learnt and takes no room: each class has a random prototype, a sample is its
/// class's prototype plus standard normal noise, made when it is read. The noise of a sample is a window of
/// one table of 2^16 numbers, which keeps reading near the speed of a copy.
std::unique_ptr<Dataset> make_synthetic(const SyntheticOptions& options);

/// The training part of a data set in the IDX format (MNIST, Fashion-MNIST, KMNIST, ...) from `directory` or
/// its folder "raw": train-images-idx3-ubyte and train-labels-idx1-ubyte (also train-images.idx3-ubyte and
/// train-images.idx, and the same for labels). Pixels are scaled to [-1, 1]; the images stay in the page
/// cache, which the ranks of a machine share. Throws Error{kBadInput} naming the file and the offset of the
/// error: magic number, sizes, a label of 10 or more, missing or extra bytes; and a message of its own if
/// there are only compressed files.
std::unique_ptr<Dataset> make_idx(const std::filesystem::path& directory);

struct SyntheticImages {
  std::int64_t size = 60'000;
  std::int64_t side = 32;  ///< pixels; three channels
  std::int32_t classes = 10;
  std::uint64_t seed = 1;
};

/// NHWC images that can be learnt and take no room: each class has a pattern of 4 x 4 coloured fields, an
/// image is its class's pattern plus standard normal noise.
std::unique_ptr<Dataset> make_synthetic_images(const SyntheticImages& options);

struct TokenOptions {
  std::int64_t sequence = 64;
  std::int32_t vocabulary = 65;
};

/// Sequences that can be learnt and take no room, with the next token as each token's label: a Markov chain
/// over the first 1024 tokens of the vocabulary or fewer, in which four tokens can follow each token, with
/// probabilities 1/2, 1/4, 1/8 and 1/8: a model that has learnt it all has a loss of 1.21 (1.75 bits).
std::unique_ptr<Dataset> make_synthetic_tokens(const TokenOptions& options, std::uint64_t seed);

/// The training part of CIFAR-10 in its binary form from `directory` or its folder "cifar-10-batches-bin":
/// data_batch_1.bin to data_batch_5.bin, those that are there. NHWC, each channel to mean 0 and deviation 1
/// of the training set. Throws Error{kBadInput} that names the file and the offset: no whole number of
/// images, a label of 10 or more.
std::unique_ptr<Dataset> make_cifar10(const std::filesystem::path& directory);

/// A flat file of uint16 tokens in the machine's order of bytes, or train.bin of a directory: sequence i is
/// the tokens from i * sequence on, and its labels are the tokens after each. Throws Error{kBadInput} that
/// names the file: an odd number of bytes, too short; and, when it is read, the offset of a token outside of
/// the vocabulary.
std::unique_ptr<Dataset> make_token_file(const std::filesystem::path& file, const TokenOptions& options);

/// Masked language modelling (Devlin et al. 2018) on the sequences of `tokens`: of each, 15% of the places
/// (rounded, at least one) keep their token as label and no other place has one; the token there becomes
/// `mask` in 80% of the cases, a random one in 10%. As many in every sequence, so that means over ranks are
/// means over samples. The same places whenever a sequence is read.
std::unique_ptr<Dataset> make_masked(std::unique_ptr<Dataset> tokens, std::int32_t mask, std::uint64_t seed);

}  // namespace ddbench::workload
