#include "recording.h"

#include <unistd.h>

#include <algorithm>
#include <concepts>
#include <fstream>
#include <stdexcept>
#include <utility>

namespace ddbench::nccl_recorder {
namespace {

void* parse_address(const Json& field) {
  if (field.is_null()) return nullptr;
  const auto& text = field.get_ref<const std::string&>();
  std::size_t used = 0;
  const std::uint64_t value = text.starts_with("0x") ? std::stoull(text, &used, 16) : 0;
  if (used != text.size()) throw std::runtime_error("no address: " + text);
  return reinterpret_cast<void*>(value);
}

template <std::integral Number>
Number parse_number(const char* name, const Json& field) {
  const bool fits = field.is_number_unsigned()  ? std::in_range<Number>(field.get<std::uint64_t>())
                    : field.is_number_integer() ? std::in_range<Number>(field.get<std::int64_t>())
                                                : false;
  if (!fits) throw std::runtime_error(std::string(name) + " is no number that fits: " + field.dump());
  return field.get<Number>();
}

/// The visitor that fills an event.
class EventReader {
 public:
  EventReader(const RecordedCall& call, const std::function<void*(const Reference&)>& resolve)
      : call_(call), resolve_(resolve) {}

  void operator()(const char* name, const char*& text) const {
    const Json& field = call_.fields.at(name);
    text = field.is_null() ? nullptr : field.get_ref<const std::string&>().c_str();
  }
  void operator()(const char* name, void*& address) const { address = parse_address(call_.fields.at(name)); }
  void operator()(const char* name, const void*& address) const {
    address = parse_address(call_.fields.at(name));
  }
  void operator()(const char* name, bool& value) const { value = call_.fields.at(name).get<bool>(); }
  template <std::integral Number>
  void operator()(const char* name, Number& number) const {
    number = parse_number<Number>(name, call_.fields.at(name));
  }
  void handle(const char* name, void*& handle) const { handle = resolve_(call_.reference(name)); }
  void process(const char* name, pid_t& pid) const {
    const auto& whose = call_.fields.at(name).get_ref<const std::string&>();
    if (whose != "own" && whose != "foreign")
      throw std::runtime_error("a process is own or foreign: " + whose);
    pid = whose == "own" ? ::getpid() : ::getpid() + 1;
  }

 private:
  const RecordedCall& call_;
  const std::function<void*(const Reference&)>& resolve_;
};

void* no_handle(const Reference&) {
  return nullptr;
}

}  // namespace

std::uint64_t RecordedCall::type() const {
  const Json& field = fields.at("type");
  if (field.is_number()) return parse_number<std::uint64_t>("type", field);
  const auto& name = field.get_ref<const std::string&>();
  const auto* const found = std::find(kEventNames.begin(), kEventNames.end(), name);
  if (found == kEventNames.end()) throw std::runtime_error("no type of an event: " + name);
  return std::uint64_t{1} << (found - kEventNames.begin());
}

Reference RecordedCall::reference(const char* name) const {
  const Json& field = fields.at(name);
  if (field.is_number()) return {parse_number<std::uint64_t>(name, field), nullptr};
  return {std::nullopt, parse_address(field)};
}

template <typename Event>
Event read_event(const RecordedCall& call, const std::function<void*(const Reference&)>& resolve) {
  Event event{};
  event.type = static_cast<decltype(event.type)>(call.type());
  if (event.type != call.type()) throw std::runtime_error("a type that its version does not have");
  EventReader reader(call, resolve);
  reader.handle("parentObj", event.parentObj);
  reader("rank", event.rank);
  visit_fields(event, reader);
  return event;
}
template nccl::EventV3 read_event(const RecordedCall&, const std::function<void*(const Reference&)>&);
template nccl::EventV4 read_event(const RecordedCall&, const std::function<void*(const Reference&)>&);
template nccl::EventV5 read_event(const RecordedCall&, const std::function<void*(const Reference&)>&);
template nccl::EventV7 read_event(const RecordedCall&, const std::function<void*(const Reference&)>&);

Recording::Recording(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw std::runtime_error(file.string() + ": cannot be read");
  std::string text;
  // What has no end of its line is cut short.
  for (std::size_t line = 1; std::getline(in, text) && !in.eof(); ++line) {
    try {
      if (line > 1) {
        add(text, line);
      } else if (text != kRecordingHead) {
        throw std::runtime_error("no recording of NCCL's calls of this format");
      }
    } catch (const std::exception& error) {
      throw std::runtime_error(file.string() + ":" + std::to_string(line) + ": " + error.what());
    }
  }
}

void Recording::add(const std::string& text, std::size_t line) {
  RecordedCall call;
  call.line = line;
  call.fields = Json::parse(text);
  call.call = call.fields.at("call").get<std::string>();
  call.version = parse_number<int>("version", call.fields.at("version"));
  call.time_ns = parse_number<std::int64_t>("time_ns", call.fields.at("time_ns"));
  call.thread = parse_number<std::size_t>("thread", call.fields.at("thread"));
  const auto number = parse_number<std::uint64_t>("number", call.fields.at("number"));
  if (number != calls_.size()) throw std::runtime_error("not the next call: " + std::to_string(number));
  if (call.version < 3 || call.version > 7) throw std::runtime_error("no version of the interface");
  if (call.thread > threads_) throw std::runtime_error("not the next thread");
  if (call.is(kInit) || call.is(kStart)) {
    const Json& returned = call.fields.at("returned");
    call.returned = !returned.is_null();
    if (call.returned && returned != number) throw std::runtime_error("returns what is another call's");
  }
  check(call);
  threads_ = std::max(threads_, call.thread + 1);
  calls_.push_back(std::move(call));
}

void Recording::check(const RecordedCall& call) const {
  parse_number<nccl::Result>("result", call.fields.at("result"));
  if (call.is(kInit)) {
    parse_number<std::uint64_t>("communicator", call.fields.at("communicator"));
    for (const char* const name : {"nodes", "ranks", "rank", "mask"}) {
      parse_number<int>(name, call.fields.at(name));
    }
    const Json& name = call.fields.at("name");
    if (!name.is_null() && !name.is_string()) throw std::runtime_error("the name is no text");
  } else if (call.is(kStart)) {
    check_reference(call, "context", kInit);
    check_reference(call, "parentObj", kStart);
    if (call.fields.contains("parentGroup")) check_reference(call, "parentGroup", kStart);
    if (call.version == 3) read_event<nccl::EventV3>(call, no_handle);
    if (call.version == 4) read_event<nccl::EventV4>(call, no_handle);
    if (call.version == 5 || call.version == 6) read_event<nccl::EventV5>(call, no_handle);
    if (call.version == 7) read_event<nccl::EventV7>(call, no_handle);
  } else if (call.is(kStop)) {
    check_reference(call, "handle", kStart);
  } else if (call.is(kState)) {
    check_reference(call, "handle", kStart);
    parse_number<int>("state", call.fields.at("state"));
    const Json& argument = call.fields.at("argument");
    if (!argument.is_null()) parse_number<std::uint64_t>("argument", argument);
  } else if (call.is(kFinalize)) {
    check_reference(call, "context", kInit);
  } else {
    throw std::runtime_error("no call of NCCL's: " + call.call);
  }
}

void Recording::check_reference(const RecordedCall& call, const char* name, const char* returned_by) const {
  const Reference reference = call.reference(name);
  // Plug-ins follow contexts, which are addresses.
  if (returned_by == kInit && reference.address != nullptr) throw std::runtime_error("a context of no call");
  if (!reference.call) return;
  const bool is_returned = *reference.call < calls_.size() && calls_[*reference.call].is(returned_by) &&
                           calls_[*reference.call].returned;
  if (!is_returned) throw std::runtime_error(std::string(name) + " is what no call before has returned");
}

}  // namespace ddbench::nccl_recorder
