#pragma once

namespace ddbench::inject {

/// The function `name` that the program would call if ddbench were not there. Where the program loaded the
/// library for itself alone (Python does), it is the one that the object sees whose code `caller` is: several
/// may be loaded, as NumPy and PyTorch bring a BLAS each. Else, and without a caller, the first of any loaded
/// object. Ends the process with a message when there is none: the program called a function that it does not
/// have.
void* find_function(const char* name, const void* caller = nullptr);

/// Null: no loaded object has it.
void* find_function_if_any(const char* name, const void* caller = nullptr);

/// The name of one of our functions that stand before others.
const char* name_of_function(void* own);

/// Its next definition in the scope that the whole program shares; null where there is none.
void* find_next(void* own);

/// What `own` stands before for the calls that `caller` makes, found once for each of the calling thread's places that call. Takes no lock
/// where it is known, and holds none while the program forks.
void* find_once(void* own, const void* caller);

/// The function that `own`, which calls it, stands before, found once for each place that calls `own`.
template <auto own>
auto original(const void* caller = __builtin_return_address(0)) {
  using Function = decltype(own);
  void* const self = reinterpret_cast<void*>(own);
  static void* const next = find_next(self);
  if (next != nullptr) return reinterpret_cast<Function>(next);
  return reinterpret_cast<Function>(find_once(self, caller));
}

}  // namespace ddbench::inject
