#pragma once

#include "core/error.h"

namespace ddbench::fuzz {

/// An Error is an answer: what is refused is as good as done.
template <typename Work>
void attempt(const Work& work) {
  try {
    work();
  } catch (const Error&) {
  }
}

}  // namespace ddbench::fuzz
