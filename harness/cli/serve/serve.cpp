#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "harness/cli/options/command.h"
#include "harness/cli/options/open_store.h"
#include "harness/cli/options/output.h"
#include "harness/cli/options/shared_options.h"
#include "harness/http/server/access.h"
#include "harness/cli/serve/answer.h"
#include "harness/cli/serve/store_pages.h"
#include "harness/http/server/server.h"
#include "harness/launch/trust/run_token.h"

namespace ddbench::cli {
namespace {

constexpr const char* kServeTokenVariable = "DDBENCH_SERVE_TOKEN";

struct ServeOptions {
  std::string db;
  std::string address = "127.0.0.1";
  std::uint16_t port = 8642;
  bool needs_token = false;
  bool readonly = true;  ///< it always is
};

std::string own_host_name() {
  std::array<char, 256> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "localhost";
}

/// How a browser reaches it: an address that stands for all is replaced by this machine's name.
std::string authority(const std::string& address, std::uint16_t port) {
  const bool all = address == "0.0.0.0" || address == "::";
  const std::string host = all ? own_host_name() : address;
  return host.find(':') == std::string::npos ? fmt::format("{}:{}", host, port) : fmt::format("[{}]:{}", host, port);
}

/// A token that we made is in the address, here and nowhere else; the user knows their own.
std::string invitation(const std::string& address, std::uint16_t port, const std::string& new_token, bool has_token) {
  const std::string place = authority(address, port);
  std::string text = new_token.empty() ? fmt::format("http://{}/\n", place) : fmt::format("http://{}:{}@{}/\n", http::kServeUser, new_token, place);
  const std::string user = fmt::format("user {}", http::kServeUser);
  if (!has_token) return text + "every user of this machine can read it: --token keeps others out. Ctrl-C ends it.\n";
  return text + fmt::format("{}: {}, password: {}. Not encrypted: over other networks, use ssh -L. Ctrl-C ends it.\n", "sign in", user,
                            new_token.empty() ? fmt::format("the value of {}", kServeTokenVariable) : "the token in this address");
}

int serve(const ServeOptions& options) {
  const std::string given = launch::take_token(kServeTokenVariable);
  const std::string address = http::canonical_address(options.address);
  const bool loopback = http::is_loopback(address);
  const std::string made = given.empty() && (options.needs_token || !loopback) ? launch::new_token() : "";
  const http::AccessRules rules{given.empty() ? made : given, {"localhost", address}};
  const std::filesystem::path file = store_path(options.db);
  open_store(options.db);  // an error now is better than on every page
  const StorePages pages(file, options.db.empty() ? "" : std::filesystem::absolute(file).string());
  http::Server server(address, options.port, {}, [&](const http::ReceivedRequest& request) { return answer(request, rules, pages); });
  print(fmt::format("reports of {} at {}", printable(file.string()), invitation(address, server.port(), made, !rules.token.empty())));
  flush_output();
  server.run();
  return 0;
}

}  // namespace

void add_serve_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("serve", "Show the reports of a store in a browser, read only, until Ctrl-C");
  const auto options = std::make_shared<ServeOptions>();
  add_db_option(*command, options->db);
  command->add_option("--port", options->port, "TCP port; 0: a free one")->check(CLI::Range(0, 65535))->capture_default_str();
  command
      ->add_option("--bind", options->address,
                   "IP address to listen on. Beyond this machine (0.0.0.0, ::, or one of its addresses), readers need a token")
      ->capture_default_str();
  command->add_flag("--token", options->needs_token, "Readers need a token on 127.0.0.1 and ::1 too, where other users of this machine can connect");
  command->add_flag("--readonly", options->readonly, "No run is ever changed; accepted so that a command can state it");
  add_examples(*command, {{"serve", "http://127.0.0.1:8642/"},
                          {"serve --db results.db --port 0", "another store, on a free port"},
                          {"serve --bind 0.0.0.0", "for other machines, with a new token in the printed address"}},
               fmt::format("Set {} to choose the token: at least 16 characters that nobody can guess.\nCtrl-C and SIGTERM end it, with exit code 0.", kServeTokenVariable));
  command->callback([&action, options] { action = [options] { return serve(*options); }; });
}

}  // namespace ddbench::cli
