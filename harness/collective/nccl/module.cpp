#include "harness/plugin/module.h"
#include "harness/collective/nccl/nccl_communicator.h"

namespace {

namespace collective = ddbench::collective;

std::unique_ptr<collective::Communicator> make(const collective::CommunicatorOptions& options,
                                               collective::KeyValueStore& rendezvous) {
  return std::make_unique<collective::nccl_backend::NcclCommunicator>(options, rendezvous);
}

const ddbench::module::ModuleEntry kEntry{ddbench::module::kEntryLayout, collective::kCommunicatorInterface,
                                          reinterpret_cast<void*>(&make)};

}  // namespace

DDBENCH_MODULE_ENTRY const ddbench::module::ModuleEntry* ddbench_module_entry() {
  return &kEntry;
}
