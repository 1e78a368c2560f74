// In which ranges the nodes of captured graphs are captured.
#include "probes/cupti/cupti_probe.h"
#include "probes/cupti/cupti_versions.h"

namespace ddbench::cuda {
namespace {

constexpr CUpti_CallbackIdResource kNodeCallbacks[] = {CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED,
                                                       CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED};

}  // namespace

bool CuptiProbe::follow_capture(bool follow) noexcept {
  if (!unavailable_.empty() || stopped_) return false;
  // Kernels of a graph would be mixed up: recording has been ended and begun again already.
  if (follow && has_paused_ && !may_begin_again(version_)) return false;
  captured_ranges_.follow(follow);
  if (follow) expects_graphs_ = true;
  bool all = true;
  for (const CUpti_CallbackIdResource id : kNodeCallbacks) {
    all = cuptiEnableCallback(follow ? 1 : 0, cupti_.handle(), CUPTI_CB_DOMAIN_RESOURCE, id) == CUPTI_SUCCESS &&
          all;
  }
  return all;
}

/// The nodes of a captured graph are copied when it is made ready to run: the copies are what runs.
void CuptiProbe::note_node(bool is_clone, const CUpti_GraphData& graph) noexcept {
  std::uint64_t node = 0;
  std::uint64_t original = 0;
  if (cuptiGetGraphNodeId(graph.node, &node) != CUPTI_SUCCESS) return;
  if (!is_clone) {
    captured_ranges_.add(node);
  } else if (cuptiGetGraphNodeId(graph.originalNode, &original) == CUPTI_SUCCESS) {
    captured_ranges_.copy(original, node);
  }
  Range range;
  if (recording_ && captured_ranges_.find(node, range)) recording_->add_node(node, range);
}

void CuptiProbe::graph_callback(void* probe, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                const void* data) {
  if (domain != CUPTI_CB_DOMAIN_RESOURCE || data == nullptr) return;
  const void* const graph = static_cast<const CUpti_ResourceData*>(data)->resourceDescriptor;
  if (graph == nullptr) return;
  static_cast<CuptiProbe*>(probe)->note_node(id == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED,
                                             *static_cast<const CUpti_GraphData*>(graph));
}

}  // namespace ddbench::cuda
