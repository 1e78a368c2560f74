#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

#include "harness/launch/control/messages.h"

namespace ddbench::launch {

/// The answer to FlightRequest from the flight recorders in a rank's folder: kMostProcessFlights at most, those with the newest
/// collectives. An empty path has none.
std::vector<Flight> own_flights(const std::filesystem::path& folder, std::uint32_t request);

/// For all of a program's processes together: the newest collective, how many they have entered, and whether
/// one of them is in one.
CollectiveState collectives_of_program(const std::filesystem::path& folder);

}  // namespace ddbench::launch
