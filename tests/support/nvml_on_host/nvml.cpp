// The driver's library for tests, libnvidia-ml.so.1, for machines without a driver: two GPUs. The first is
// busy, limited by its power cap, and reports everything; the second is idle and reports little. Written from
// NVML's documentation, and equally strict: wrong calls are refused.
#include <cstdlib>
#include <cstring>

#define NVML extern "C" __attribute__((visibility("default"))) int

namespace {

enum : int {
  kSuccess = 0,
  kUninitialized = 1,
  kInvalidArgument = 2,
  kNotSupported = 3,
  kDriverNotLoaded = 9
};
using Device = void*;

int started = 0;
char devices[2];

bool is(Device device, int index) {
  return device == &devices[index];
}

/// What all questions about a GPU have in common.
int check(Device device, const void* answer) {
  if (started == 0) return kUninitialized;
  return answer != nullptr && (is(device, 0) || is(device, 1)) ? kSuccess : kInvalidArgument;
}

template <typename Value>
int answer_value(Device device, Value* answer, Value busy, Value idle) {
  const int status = check(device, answer);
  if (status == kSuccess) *answer = is(device, 0) ? busy : idle;
  return status;
}

template <typename Value>
int answer_of_first(Device device, Value* answer, Value busy) {
  const int status = check(device, answer);
  if (status != kSuccess) return status;
  if (is(device, 1)) return kNotSupported;
  *answer = busy;
  return kSuccess;
}

}  // namespace

NVML nvmlInit_v2() {
  const char* const how = std::getenv("NVML_ON_HOST");
  if (how != nullptr && std::strcmp(how, "not loaded") == 0) return kDriverNotLoaded;
  ++started;
  return kSuccess;
}

NVML nvmlShutdown() {
  if (started == 0) return kUninitialized;
  --started;
  return kSuccess;
}

NVML nvmlDeviceGetCount_v2(unsigned* count) {
  const char* const how = std::getenv("NVML_ON_HOST");
  if (started == 0) return kUninitialized;
  *count = how != nullptr && std::strcmp(how, "none") == 0 ? 0 : 2;
  return kSuccess;
}

NVML nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  if (started == 0) return kUninitialized;
  if (index > 1) return kInvalidArgument;
  *device = &devices[index];
  return kSuccess;
}

NVML nvmlDeviceGetUtilizationRates(Device device, unsigned* gpu_and_memory) {
  const int status = check(device, gpu_and_memory);
  if (status != kSuccess) return status;
  gpu_and_memory[0] = is(device, 0) ? 80 : 0;
  gpu_and_memory[1] = 30;
  return kSuccess;
}

/// 0 graphics, 1 SM, 2 memory, 3 video.
NVML nvmlDeviceGetClockInfo(Device device, int type, unsigned* mhz) {
  if (type < 0 || type > 3) return kInvalidArgument;
  return type == 1 ? answer_value(device, mhz, 1200u, 210u) : answer_value(device, mhz, 9000u, 9000u);
}

NVML nvmlDeviceGetPowerUsage(Device device, unsigned* milliwatt) {
  return answer_value(device, milliwatt, 300'000u, 60'000u);
}

/// Since the driver was loaded; 30 J more each time, as at 300 W ten times a second.
NVML nvmlDeviceGetTotalEnergyConsumption(Device device, unsigned long long* millijoule) {
  static unsigned long long used = 1'000'000;
  return answer_of_first(device, millijoule, used += 30'000);
}

/// 0 is the GPU's sensor, and there is no other.
NVML nvmlDeviceGetTemperature(Device device, int sensor, unsigned* celsius) {
  return sensor == 0 ? answer_value(device, celsius, 65u, 30u) : static_cast<int>(kInvalidArgument);
}

/// Total, free, used; 1 GB more is used each time, from 10 GB on, up to 40 GB.
NVML nvmlDeviceGetMemoryInfo(Device device, unsigned long long* total_free_used) {
  constexpr unsigned long long kGigabyte = 1'000'000'000;
  static unsigned long long used = 9 * kGigabyte;
  const int status = check(device, total_free_used);
  if (status != kSuccess) return status;
  if (used < 40 * kGigabyte) used += kGigabyte;
  total_free_used[0] = 80 * kGigabyte;
  total_free_used[2] = is(device, 0) ? used : 0;
  total_free_used[1] = total_free_used[0] - total_free_used[2];
  return kSuccess;
}

/// 4: nvmlClocksThrottleReasonSwPowerCap, 1: ...GpuIdle.
NVML nvmlDeviceGetCurrentClocksThrottleReasons(Device device, unsigned long long* reasons) {
  return answer_value(device, reasons, 4ull, 1ull);
}

/// Corrected (0) or uncorrected (1), since the driver was loaded (0) or ever (1).
NVML nvmlDeviceGetTotalEccErrors(Device device, int type, int counter, unsigned long long* count) {
  if (type < 0 || type > 1 || counter < 0 || counter > 1) return kInvalidArgument;
  return answer_of_first(device, count, counter == 1 ? 1000ull : type == 0 ? 2ull : 1ull);
}
