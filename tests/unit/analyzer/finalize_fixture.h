#pragma once

#include <gtest/gtest.h>

#include <vector>

#include "analyzer/finalize/finalize.h"
#include "synthetic_run.h"

namespace ddbench::analyzer {

/// A run of two ranks and 30 measured steps, the second rank of which is late.
class FinalizeRun : public testing::Test {
 protected:
  FinalizeRun() {
    run_.set_world(2, 1);
    run_.lag_us = {0, 3};
    run_.run_case.steps = 30;
    run_.run_case.warmup = 5;
  }

  void finalize() {
    run_.store_into(scratch_.get());
    finalize_run(scratch_.get(), run_.id);
  }

  void append(int rank, std::vector<Span> spans) {
    scratch_.get().append_spans(run_.id, rank, spans, kSyntheticNames);
  }

  store::RunStore& store() { return scratch_.get(); }
  store::RunRecord stored() { return *scratch_.get().run(run_.id); }

  ScratchStore scratch_;
  SyntheticRun run_;
};

}  // namespace ddbench::analyzer
