#include "harness/launch/local/probe_namespaces.h"

#include "core/error.h"
#include "core/facts/facts.h"
#include "harness/launch/local/fabric.h"

namespace ddbench::launch {

Measured<bool> probe_namespaces() {
  FabricPlan plan;
  plan.nodes = 2;
  plan.link = parse_link_rate("1gbit");
  try {
    return Fabric(plan, Isolation::kLinks)
        .facts()
        .contains(std::string(fact_key<"network.user_namespace">.name));
  } catch (const Error& error) {
    return Measured<bool>::missing(error.message());
  }
}

}  // namespace ddbench::launch
