#include "harness/cli/serve/answer.h"

#include <fmt/format.h>

#include "reports/formats/html/html.h"

namespace ddbench::cli {
namespace {

/// Texts for whoever may not read say nothing about the store.
http::Reply refusal(int status, const std::string& why, std::vector<http::Header> headers = {}) {
  return {status, "text/plain; charset=utf-8", why + "\n", std::move(headers)};
}

http::Reply permitted_answer(const http::ReceivedRequest& request, const StorePages& pages) {
  const auto target = http::parse_target(request.target);
  return target ? pages.page(*target) : refusal(400, "this is not the address of a page");
}

http::Reply answer_by_access(const http::ReceivedRequest& request, const http::AccessRules& rules, const StorePages& pages) {
  switch (http::decide_access(request, rules)) {
    case http::Access::kGranted: return permitted_answer(request, pages);
    case http::Access::kMalformed: return refusal(400, "a request has one Host, and at most one Authorization");
    case http::Access::kForeignHost:
      return refusal(421, "this server answers to localhost and its own address only; to reach it by another name, start it with --token");
    case http::Access::kOtherMethod: return refusal(405, "this server is read only: GET and HEAD", {{"Allow", "GET, HEAD"}});
    case http::Access::kNoToken: break;
  }
  return refusal(401, fmt::format("this needs the token: open the address that `ddbench serve` printed, or give it as the password of user {}", http::kServeUser),
                 {{"WWW-Authenticate", R"(Basic realm="ddbench, user ddbench", charset="UTF-8")"}});
}

}  // namespace

http::Reply answer(const http::ReceivedRequest& request, const http::AccessRules& rules, const StorePages& pages) {
  http::Reply reply = answer_by_access(request, rules, pages);
  reply.headers.push_back({"Cache-Control", "no-store"});
  reply.headers.push_back({"X-Content-Type-Options", "nosniff"});
  reply.headers.push_back({"Referrer-Policy", "no-referrer"});
  reply.headers.push_back({"Cross-Origin-Resource-Policy", "same-origin"});
  reply.headers.push_back({"Content-Security-Policy", reports::content_security_policy() + "; frame-ancestors 'none'"});
  return reply;
}

}  // namespace ddbench::cli
