#include "harness/http/http.h"

#include "harness/plugin/module.h"

namespace ddbench::http {

std::unique_ptr<Client> make_client() {
  return module::open_module<ClientFactory>(
      {kClientFile, kClientInterface, "HTTP", "libcurl4-openssl-dev", "libcurl4"})();
}

}  // namespace ddbench::http
