#pragma once

#include <initializer_list>

namespace ddbench::inject {

/// The function `name` of the program, or, where the program loaded the library for itself alone (Python
/// does), of the first of `libraries` that is loaded. Ends the process with a message when there is none: the
/// program called a function that it does not have.
void* find_function(const char* name, std::initializer_list<const char*> libraries);

/// The function that this shared object stands before: the next definition of `own`'s name, found as
/// find_function() does it.
void* find_original(void* own, std::initializer_list<const char*> libraries);

/// The same, found once. `own` is the function that calls it.
template <auto own>
auto original(std::initializer_list<const char*> libraries) {
  static const auto found =
      reinterpret_cast<decltype(own)>(find_original(reinterpret_cast<void*>(own), libraries));
  return found;
}

}  // namespace ddbench::inject
