#include "harness/launch/control/messages.h"

#include <cstdlib>

#include "core/error.h"
#include "fuzz_targets.h"

namespace ddbench::fuzz {
namespace {

/// What was understood can be sent on, and means the same.
void read_message(Bytes input) {
  try {
    const std::string sent = launch::encode(launch::decode(text_of(input)));
    if (launch::encode(launch::decode(sent)) != sent) std::abort();
  } catch (const Error&) {
    // refused: as good as read
  }
}

}  // namespace

const Target kMessages{"messages", read_message};

}  // namespace ddbench::fuzz
