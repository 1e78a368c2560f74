#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/facts/fact_table.h"
#include "core/measured.h"
#include "core/text/number.h"

namespace ddbench {

/// Facts by key, in the text form that the store keeps: store::Environment::facts.
using Facts = std::map<std::string, std::string>;

/// A number and its interval.
struct FactEstimate {
  double value = 0;
  double low = 0;
  double high = 0;
};

/// The key of one kind of fact, whose values are `Value`s.
template <typename Value>
struct FactKey {
  std::string_view name;
  std::string_view format;
};

/// FactKey of an entry whose key has a "*", with the placeholder filled in.
template <typename Value>
struct NamedFactKey {
  std::string name;
  std::string_view format;
};

namespace detail {

template <std::size_t Size>
struct KeyText {
  char text[Size];
  consteval KeyText(const char (&literal)[Size]) { std::copy_n(literal, Size, text); }  // NOLINT: a literal
  constexpr std::string_view view() const { return {text, Size - 1}; }
};

/// No constant, and so an error of the compiler, for a key that is not in kFactTable.
template <KeyText Key>
consteval const FactSpec& spec_of() {
  for (const FactSpec& spec : kFactTable) {
    if (spec.key == Key.view()) return spec;
  }
  throw "the registry of facts has no such key";
}

template <FactType Type>
auto value_of_type() {
  if constexpr (Type == FactType::kInteger)
    return std::int64_t{};
  else if constexpr (Type == FactType::kReal)
    return double{};
  else if constexpr (Type == FactType::kSwitch)
    return bool{};
  else if constexpr (Type == FactType::kList)
    return std::vector<std::string>{};
  else if constexpr (Type == FactType::kEstimate)
    return FactEstimate{};
  else
    return std::string{};
}

template <KeyText Key>
using ValueOf = decltype(value_of_type<spec_of<Key>().type>());

std::string fact_text(bool value, std::string_view format);
std::string fact_text(std::int64_t value, std::string_view format);
std::string fact_text(double value, std::string_view format);
std::string fact_text(const std::string& value, std::string_view format);
std::string fact_text(const std::vector<std::string>& value, std::string_view format);
std::string fact_text(const FactEstimate& value, std::string_view format);

bool read_fact(std::string_view text, bool& value);
bool read_fact(std::string_view text, std::int64_t& value);
bool read_fact(std::string_view text, double& value);
bool read_fact(std::string_view text, std::string& value);
bool read_fact(std::string_view text, std::vector<std::string>& value);
bool read_fact(std::string_view text, FactEstimate& value);

/// The reason in "unknown: REASON" and "not measured: REASON"; nothing for other texts.
std::optional<std::string> reason_in(std::string_view text);

/// The key behind "counted." and "counted.nodeN."; empty for other keys.
std::string_view counted_name(std::string_view key) noexcept;

/// Whether a value may be written as a fact's without a change of its kind: a count is no rate.
template <typename Given, typename Value>
concept FactValue = (std::same_as<Value, std::int64_t> && std::integral<Given> &&
                     !std::same_as<Given, bool>) ||
                    (std::same_as<Value, double> && std::floating_point<Given>) ||
                    (std::same_as<Value, std::string> && std::convertible_to<Given, std::string_view>) ||
                    std::same_as<Given, Value>;

}  // namespace detail

/// The key of a fact, by its entry in kFactTable: fact_key<"cpu.cores">. A key that is not there does not
/// compile.
template <detail::KeyText Key>
requires(Key.view().find('*') ==
         std::string_view::npos) inline constexpr FactKey<detail::ValueOf<Key>> fact_key{
    detail::spec_of<Key>().key, detail::spec_of<Key>().format};

/// The same for an entry with one or more "*", each replaced by one of `parts`: fact_key_of<"gpu.*.model">(0)
/// is "gpu.0.model".
template <detail::KeyText Key, typename... Parts>
NamedFactKey<detail::ValueOf<Key>> fact_key_of(const Parts&... parts) {
  constexpr const FactSpec& kSpec = detail::spec_of<Key>();
  static_assert(std::count(kSpec.key.begin(), kSpec.key.end(), '*') == sizeof...(Parts));
  std::string pattern(kSpec.key);
  for (std::size_t at = 0; (at = pattern.find('*', at)) != std::string::npos; at += 2)
    pattern.replace(at, 1, "{}");
  return {fmt::format(fmt::runtime(pattern), parts...), kSpec.format};
}

/// Sets a fact. A value of another kind than the entry's type does not compile.
template <template <typename> typename Key, typename Value, detail::FactValue<Value> Given>
void set_fact(Facts& facts, const Key<Value>& key, const Given& value) {
  facts.insert_or_assign(std::string(key.name), detail::fact_text(Value(value), key.format));
}

/// Sets a fact that could not be measured where it was: "not measured: REASON".
template <template <typename> typename Key, typename Value, detail::FactValue<Value> Given>
void set_fact(Facts& facts, const Key<Value>& key, const Measured<Given>& value) {
  if (value)
    set_fact(facts, key, *value);
  else
    facts.insert_or_assign(std::string(key.name), "not measured: " + value.reason());
}

/// set_fact, but where the count is 0 there is no fact.
template <template <typename> typename Key, std::integral Given>
void set_count(Facts& facts, const Key<std::int64_t>& key, Given count) {
  facts.erase(std::string(key.name));
  if (count != 0) set_fact(facts, key, count);
}

/// The value of a fact; missing where there is none, where it was not measured, and where a store of another
/// version keeps a text that is no such value: that text is the reason.
template <template <typename> typename Key, typename Value>
Measured<Value> get_fact(const Facts& facts, const Key<Value>& key) {
  const auto found = facts.find(std::string(key.name));
  if (found == facts.end()) return Measured<Value>::missing("not reported");
  if constexpr (!std::same_as<Value, std::string>) {
    if (auto reason = detail::reason_in(found->second)) return Measured<Value>::missing(*std::move(reason));
  }
  Value value{};
  return detail::read_fact(found->second, value) ? Measured<Value>(std::move(value))
                                                 : Measured<Value>::missing(found->second);
}

template <template <typename> typename Key, typename Value>
bool has_fact(const Facts& facts, const Key<Value>& key) {
  return facts.contains(std::string(key.name));
}

/// What a machine counted while the run was on: a run's facts have it for each machine.
template <template <typename> typename Key, typename Value>
NamedFactKey<Value> counted(const Key<Value>& key) {
  return {fmt::format("counted.{}", key.name), key.format};
}
/// The values of such a fact on all machines that measured it.
template <template <typename> typename Key, typename Value>
std::vector<Value> counted_values(const Facts& facts, const Key<Value>& key) {
  std::vector<Value> values;
  for (const auto& [name, text] : facts) {
    if (detail::counted_name(name) != key.name) continue;
    if (const Measured<Value> value = get_fact(facts, NamedFactKey<Value>{name, key.format}))
      values.push_back(*value);
  }
  return values;
}

/// A fact as a rank reports it: as a name among those of its spans, "KEY: VALUE". A span is never called so,
/// for the key must be one of the registry.
struct ReportedFact {
  std::string key;
  std::string text;
};
template <template <typename> typename Key, typename Value, detail::FactValue<Value> Given>
std::string reported(const Key<Value>& key, const Given& value) {
  return fmt::format("{}: {}", key.name, detail::fact_text(Value(value), key.format));
}
/// Inverse of `reported`; nothing for the name of a span.
std::optional<ReportedFact> reported_fact(std::string_view name);

}  // namespace ddbench
