#pragma once

#include "harness/http/server/access.h"
#include "harness/cli/serve/store_pages.h"
#include "harness/http/server/server.h"

namespace ddbench::cli {

/// The reply to a request from anywhere: the page, or why the client does not get it. Every one made here has the headers that keep browsers
/// from storing, embedding or reinterpreting it. From any thread.
http::Reply answer(const http::ReceivedRequest& request, const http::AccessRules& rules, const StorePages& pages);

}  // namespace ddbench::cli
