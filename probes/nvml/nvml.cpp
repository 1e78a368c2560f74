// NVML through its stable C interface, declared here: its header comes with the toolkit, the library with the
// driver.
#include <dlfcn.h>

#include <utility>

#include "core/clock.h"
#include "probes/nvml/gpu_monitor.h"

namespace ddbench::cuda {
namespace {

using Device = void*;  // nvmlDevice_t
struct Utilization {   // nvmlUtilization_t, percent
  unsigned gpu;
  unsigned memory;
};

struct Memory {  // nvmlMemory_t, bytes
  unsigned long long total;
  unsigned long long free;
  unsigned long long used;
};

constexpr int kSuccess = 0;
constexpr int kSmClock = 1;            // NVML_CLOCK_SM
constexpr int kGpuTemperature = 0;     // NVML_TEMPERATURE_GPU
constexpr int kCorrected = 0;          // NVML_MEMORY_ERROR_TYPE_CORRECTED
constexpr int kUncorrected = 1;        // NVML_MEMORY_ERROR_TYPE_UNCORRECTED
constexpr int kSinceDriverLoaded = 0;  // NVML_VOLATILE_ECC

struct Functions {
  int (*init)();
  int (*shutdown)();
  int (*count)(unsigned*);
  int (*device)(unsigned, Device*);
  int (*utilization)(Device, Utilization*);
  int (*clock)(Device, int, unsigned*);
  int (*power)(Device, unsigned*);             // mW
  int (*energy)(Device, unsigned long long*);  // mJ
  int (*temperature)(Device, int, unsigned*);
  int (*memory)(Device, Memory*);
  int (*throttle)(Device, unsigned long long*);
  int (*ecc)(Device, int, int, unsigned long long*);
};

class Nvml final : public GpuSource {
 public:
  Nvml(const Functions& functions, std::vector<Device> devices)
      : functions_(functions), devices_(std::move(devices)) {}
  ~Nvml() override { functions_.shutdown(); }

  std::vector<GpuSample> read() override {
    std::vector<GpuSample> samples;
    for (const Device device : devices_) samples.push_back(read(device));
    return samples;
  }

 private:
  /// False when this driver or this GPU does not report the value.
  template <typename Function, typename Value, typename... Arguments>
  static bool ask(Function function, Value& value, Device device, Arguments... arguments) {
    return function != nullptr && function(device, arguments..., &value) == kSuccess;
  }

  GpuSample read(Device device) const {
    GpuSample sample;
    sample.at_ns = now_ns();
    Utilization utilization{};
    unsigned value = 0;
    unsigned long long large = 0;
    if (ask(functions_.utilization, utilization, device)) sample.utilisation = utilization.gpu / 100.0;
    if (ask(functions_.clock, value, device, kSmClock)) sample.sm_clock_mhz = value;
    if (ask(functions_.power, value, device)) sample.power_w = value / 1e3;
    if (ask(functions_.energy, large, device)) sample.energy_j = static_cast<double>(large) / 1e3;
    if (ask(functions_.temperature, value, device, kGpuTemperature)) sample.temperature_c = value;
    if (Memory memory{}; ask(functions_.memory, memory, device)) {
      sample.memory_bytes = static_cast<double>(memory.total);
      sample.used_memory_bytes = static_cast<double>(memory.used);
    }
    if (ask(functions_.throttle, large, device)) sample.throttle_reasons = large;
    if (ask(functions_.ecc, large, device, kCorrected, kSinceDriverLoaded)) sample.ecc_corrected = large;
    if (ask(functions_.ecc, large, device, kUncorrected, kSinceDriverLoaded)) sample.ecc_uncorrected = large;
    return sample;
  }

  const Functions functions_;
  const std::vector<Device> devices_;
};

template <typename Function>
void load(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
}

Functions functions_of(void* library) {
  Functions functions{};
  load(library, "nvmlInit_v2", functions.init);
  load(library, "nvmlShutdown", functions.shutdown);
  load(library, "nvmlDeviceGetCount_v2", functions.count);
  load(library, "nvmlDeviceGetHandleByIndex_v2", functions.device);
  load(library, "nvmlDeviceGetUtilizationRates", functions.utilization);
  load(library, "nvmlDeviceGetClockInfo", functions.clock);
  load(library, "nvmlDeviceGetPowerUsage", functions.power);
  load(library, "nvmlDeviceGetTotalEnergyConsumption", functions.energy);
  load(library, "nvmlDeviceGetTemperature", functions.temperature);
  load(library, "nvmlDeviceGetMemoryInfo", functions.memory);
  load(library, "nvmlDeviceGetCurrentClocksThrottleReasons", functions.throttle);
  load(library, "nvmlDeviceGetTotalEccErrors", functions.ecc);
  return functions;
}

}  // namespace

std::unique_ptr<GpuSource> open_nvml(std::string& why_not) {
  constexpr const char* kLibrary = "libnvidia-ml.so.1";
  void* const library = ::dlopen(kLibrary, RTLD_NOW | RTLD_LOCAL);  // stays open
  if (library == nullptr) {
    why_not = std::string("no NVIDIA driver: ") + ::dlerror();
    return nullptr;
  }
  const Functions functions = functions_of(library);
  const bool has_all = functions.init != nullptr && functions.shutdown != nullptr &&
                       functions.count != nullptr && functions.device != nullptr;
  if (!has_all || functions.init() != kSuccess) {
    why_not = std::string(kLibrary) + " does not start: is the driver loaded?";
    return nullptr;
  }
  unsigned count = 0;
  std::vector<Device> devices;
  if (functions.count(&count) != kSuccess) count = 0;
  for (unsigned i = 0; i < count; ++i) {
    Device device = nullptr;
    if (functions.device(i, &device) == kSuccess) devices.push_back(device);
  }
  if (devices.empty()) {
    why_not = "the NVIDIA driver lists no GPU";
    functions.shutdown();
    return nullptr;
  }
  return std::make_unique<Nvml>(functions, std::move(devices));
}

}  // namespace ddbench::cuda
