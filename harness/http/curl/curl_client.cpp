#include <curl/curl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <mutex>

#include "core/error.h"
#include "harness/http/http.h"
#include "harness/plugin/module.h"

namespace ddbench::http {
namespace {

struct FreeList {
  void operator()(curl_slist* list) const noexcept { ::curl_slist_free_all(list); }
};
using List = std::unique_ptr<curl_slist, FreeList>;

struct FreeHandle {
  void operator()(CURL* handle) const noexcept { ::curl_easy_cleanup(handle); }
};
using Handle = std::unique_ptr<CURL, FreeHandle>;

extern "C" std::size_t ddbench_take_body(char* data, std::size_t size, std::size_t count, void* user) {
  auto& body = *static_cast<std::string*>(user);
  if (body.size() + size * count > kMostBytes) return 0;
  body.append(data, size * count);
  return size * count;
}

List list_of(const std::vector<std::string>& headers) {
  List list;
  for (const std::string& header : headers) {
    curl_slist* const longer = ::curl_slist_append(list.get(), header.c_str());
    if (longer == nullptr) throw Error(ErrorCode::kEnvironment, "libcurl has no memory for a request");
    (void)list.release();
    list.reset(longer);
  }
  return list;
}

class CurlClient final : public Client {
 public:
  CurlClient() {
    static std::once_flag once;
    std::call_once(once, [] { ::curl_global_init(CURL_GLOBAL_DEFAULT); });
    handle_.reset(::curl_easy_init());
    if (handle_ == nullptr) throw Error(ErrorCode::kEnvironment, "libcurl cannot be initialised");
  }

  Response send(const Request& request) override {
    ::curl_easy_reset(handle_.get());  // keeps the connection
    Response response;
    const List headers = list_of(request.headers);
    describe(request, headers, response);
    *reason_ = '\0';
    set(CURLOPT_ERRORBUFFER, reason_);
    const CURLcode code = ::curl_easy_perform(handle_.get());
    if (code != CURLE_OK) {
      throw Error(ErrorCode::kEnvironment,
                  fmt::format("{}: {}", request.url, *reason_ != '\0' ? reason_ : ::curl_easy_strerror(code)), static_cast<int>(code),
                  request.url);
    }
    ::curl_easy_getinfo(handle_.get(), CURLINFO_RESPONSE_CODE, &response.status);
    return response;
  }

 private:
  template <typename Value>
  void set(CURLoption option, Value value) {
    ::curl_easy_setopt(handle_.get(), option, value);
  }

  void describe(const Request& request, const List& headers, Response& response) {
    set(CURLOPT_URL, request.url.c_str());
#if LIBCURL_VERSION_NUM >= 0x075500
    set(CURLOPT_PROTOCOLS_STR, "http,https");
#else
    set(CURLOPT_PROTOCOLS, static_cast<long>(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
    set(CURLOPT_CUSTOMREQUEST, request.method.c_str());
    set(CURLOPT_HTTPHEADER, headers.get());
    if (!request.user.empty()) {
      set(CURLOPT_HTTPAUTH, CURLAUTH_BASIC);
      set(CURLOPT_USERNAME, request.user.c_str());
      set(CURLOPT_PASSWORD, request.password.c_str());
    }
    if (!request.body.empty()) {
      set(CURLOPT_POSTFIELDS, request.body.data());
      set(CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request.body.size()));
    }
    set(CURLOPT_TIMEOUT_MS, static_cast<long>(std::max<std::int64_t>(1, request.timeout.count())));
    set(CURLOPT_NOSIGNAL, 1L);  // other threads of the process have signals of their own
#if LIBCURL_VERSION_NUM >= 0x075700
    set(CURLOPT_QUICK_EXIT, 1L);  // the thread of a slow name server is not waited for
#endif
    if (!request.uses_proxy) set(CURLOPT_NOPROXY, "*");
    set(CURLOPT_WRITEFUNCTION, &ddbench_take_body);
    set(CURLOPT_WRITEDATA, &response.body);
  }

  char reason_[CURL_ERROR_SIZE] = "";  // outlives the handle, which points to it
  Handle handle_;
};

std::unique_ptr<Client> make_curl_client() {
  return std::make_unique<CurlClient>();
}

const module::ModuleEntry kEntry{module::kEntryLayout, kClientInterface, reinterpret_cast<void*>(&make_curl_client)};

}  // namespace
}  // namespace ddbench::http

DDBENCH_MODULE_ENTRY const ddbench::module::ModuleEntry* ddbench_module_entry() {
  return &ddbench::http::kEntry;
}
