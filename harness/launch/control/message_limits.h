#pragma once

#include <string>

#include "harness/launch/control/messages.h"

namespace ddbench::launch {

/// What keeps the values of a message from being true: "the clock's offset is 9e18 ns". Empty when nothing
/// does. Called once, where a message is decoded: who handles messages may rely on the limits of
/// span_limits.h and on ranks from 0 to 65535.
std::string why_impossible(const Message& message);

}  // namespace ddbench::launch
