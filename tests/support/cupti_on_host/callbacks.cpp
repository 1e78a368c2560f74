// The one subscriber, what it is called for, and names.
#include "state.h"

namespace ddbench::testing::cupti {
namespace {

CUpti_SubscriberHandle the_subscriber() {
  return reinterpret_cast<CUpti_SubscriberHandle>(&state());
}

CUgraphNode node_of(std::uint64_t id) {
  return reinterpret_cast<CUgraphNode>(id);
}

void notify_subscriber(CUpti_CallbackIdResource id, CUpti_GraphData graph) {
  CUpti_CallbackFunc callback = nullptr;
  void* user = nullptr;
  {
    const std::lock_guard lock(state_mutex());
    if (!state().has_subscriber || !state().callbacks.contains({CUPTI_CB_DOMAIN_RESOURCE, id})) return;
    callback = state().callback;
    user = state().user;
  }
  CUpti_ResourceData data{};
  data.resourceDescriptor = &graph;
  callback(user, CUPTI_CB_DOMAIN_RESOURCE, id, &data);
}

#if CUPTI_API_VERSION >= 130000
/// As of 13.2 a byte follows the members that 13.0 has.
bool asks_to_share(const CUpti_SubscriberParams* parameters) {
  constexpr std::size_t kByte = CUpti_SubscriberParams_STRUCT_SIZE;
  return parameters != nullptr && parameters->structSize > kByte && reinterpret_cast<const char*>(parameters)[kByte] == 1;
}
#endif

CUptiResult subscribe_beside(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback, void* user) {
  {
    const std::lock_guard lock(state_mutex());  // a question that may be asked: no refusal
    if (!state().holder_shares) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
  }
  return answer("cuptiSubscribe_v2", [&](State& now) {
    if (subscriber == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
    if (now.has_subscriber) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    now.has_subscriber = now.is_shared = true;
    now.callback = callback;
    now.user = user;
    *subscriber = the_subscriber();
    return CUPTI_SUCCESS;
  });
}

/// How many callbacks a domain has; 0: it is none that ddbench uses.
std::uint32_t callbacks_of(CUpti_CallbackDomain domain) {
  switch (domain) {
    case CUPTI_CB_DOMAIN_DRIVER_API: return CUPTI_DRIVER_TRACE_CBID_SIZE;
    case CUPTI_CB_DOMAIN_RUNTIME_API: return CUPTI_RUNTIME_TRACE_CBID_SIZE;
    case CUPTI_CB_DOMAIN_RESOURCE: return CUPTI_CBID_RESOURCE_SIZE;
    default: return 0;
  }
}

}  // namespace

void create_node(std::uint64_t id) {
  CUpti_GraphData graph{};
  graph.node = node_of(id);
  notify_subscriber(CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED, graph);
}

void clone_node(std::uint64_t original, std::uint64_t id) {
  CUpti_GraphData graph{};
  graph.node = node_of(id);
  graph.originalNode = node_of(original);
  notify_subscriber(CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED, graph);
}

}  // namespace ddbench::testing::cupti

using namespace ddbench::testing::cupti;

CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                                    void* user) {
  return answer("cuptiSubscribe", [&](State& now) {
    if (subscriber == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
    if (now.has_subscriber || !now.holder.empty()) return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    now.has_subscriber = true;
    now.callback = callback;
    now.user = user;
    *subscriber = the_subscriber();
    return CUPTI_SUCCESS;
  });
}

#if CUPTI_API_VERSION >= 130000
CUptiResult CUPTIAPI cuptiSubscribe_v2(CUpti_SubscriberHandle* subscriber, CUpti_CallbackFunc callback,
                                       void* user, CUpti_SubscriberParams* parameters) {
  if (asks_to_share(parameters)) return subscribe_beside(subscriber, callback, user);
  const CUptiResult result = cuptiSubscribe(subscriber, callback, user);
  if (result != CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED || parameters == nullptr) return result;
  const std::lock_guard lock(state_mutex());
  const std::string& holder = state().holder;
  if (parameters->oldSubscriberName != nullptr && parameters->oldSubscriberSize > holder.size()) {
    holder.copy(parameters->oldSubscriberName, holder.size());
    parameters->oldSubscriberName[holder.size()] = '\0';
  }
  return result;
}
#endif

CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle subscriber) {
  return answer("cuptiUnsubscribe", [&](State& now) {
    if (!now.has_subscriber || subscriber != the_subscriber()) return CUPTI_ERROR_INVALID_PARAMETER;
    now.has_subscriber = false;
    now.callbacks.clear();
    return CUPTI_SUCCESS;
  });
}

CUptiResult CUPTIAPI cuptiEnableCallback(std::uint32_t enable, CUpti_SubscriberHandle subscriber,
                                         CUpti_CallbackDomain domain, CUpti_CallbackId id) {
  return answer("cuptiEnableCallback", [&](State& now) {
    if (!now.has_subscriber || subscriber != the_subscriber()) return CUPTI_ERROR_INVALID_PARAMETER;
    if (id == 0 || id >= callbacks_of(domain)) return CUPTI_ERROR_INVALID_PARAMETER;
    if (enable != 0) {
      now.callbacks.insert({domain, id});
    } else {
      now.callbacks.erase({domain, id});
    }
    return CUPTI_SUCCESS;
  });
}

CUptiResult CUPTIAPI cuptiGetGraphNodeId(CUgraphNode node, std::uint64_t* id) {
  return answer("cuptiGetGraphNodeId", [&](State&) {
    if (node == nullptr || id == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
    *id = reinterpret_cast<std::uint64_t>(node);
    return CUPTI_SUCCESS;
  });
}

/// "runtime_211": of a call, not its real name.
CUptiResult CUPTIAPI cuptiGetCallbackName(CUpti_CallbackDomain domain, std::uint32_t id, const char** name) {
  std::function<void()> work;
  {
    const std::lock_guard lock(state_mutex());
    work = state().when_asked_for_a_name;
  }
  if (work) work();
  return answer("cuptiGetCallbackName", [&](State& now) {
    const bool has_names = domain == CUPTI_CB_DOMAIN_DRIVER_API || domain == CUPTI_CB_DOMAIN_RUNTIME_API;
    if (name == nullptr || !has_names || id == 0 || id >= callbacks_of(domain)) {
      return CUPTI_ERROR_INVALID_PARAMETER;
    }
    static std::set<std::string> names;  // they stay where they are
    if (const auto own = now.names.find(id); own != now.names.end() && domain == CUPTI_CB_DOMAIN_RUNTIME_API) {
      *name = names.insert(own->second).first->c_str();
      return CUPTI_SUCCESS;
    }
    *name = names.insert((domain == CUPTI_CB_DOMAIN_DRIVER_API ? "driver_" : "runtime_") + std::to_string(id))
                .first->c_str();
    return CUPTI_SUCCESS;
  });
}

CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult result, const char** text) {
  return answer("cuptiGetResultString", [&](State&) {
    if (text == nullptr) return CUPTI_ERROR_INVALID_PARAMETER;
    switch (result) {
      case CUPTI_ERROR_NOT_INITIALIZED: *text = "CUPTI_ERROR_NOT_INITIALIZED"; break;
      case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES: *text = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"; break;
      case CUPTI_ERROR_UNKNOWN: *text = "CUPTI_ERROR_UNKNOWN"; break;
      default: return CUPTI_ERROR_INVALID_PARAMETER;  // those that no test makes
    }
    return CUPTI_SUCCESS;
  });
}
