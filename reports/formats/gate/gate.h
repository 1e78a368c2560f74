#pragma once

#include <string>
#include <vector>

#include "analyzer/gate/gate.h"
#include "analyzer/gate/run_history.h"
#include "core/run_case/records.h"
#include "reports/formats/terminal/text.h"

namespace ddbench::reports {

// One verdict in several formats; all state the outcome that the exit code stands for. Names given by users
// are made safe for each format.

std::string gate_text(const analyzer::GateVerdict& verdict, const TextStyle& style);
/// One JSON object: reports/schema/gate.schema.json
std::string gate_json(const analyzer::GateVerdict& verdict);
/// For a pull request's comment or a job summary (GitHub, GitLab). Begins with a hidden line by which a bot
/// finds its comment again.
std::string gate_markdown(const analyzer::GateVerdict& verdict);
/// JUnit XML: a test case a metric and one, "verdict", for the whole. A regression is a failure, no verdict
/// an error.
std::string gate_junit(const analyzer::GateVerdict& verdict);

std::string history_text(const analyzer::RunHistory& history, const TextStyle& style);
/// reports/schema/history.schema.json
std::string history_json(const analyzer::RunHistory& history);

/// The output of `ddbench baseline list` and `show`: one line per version.
std::string baselines_text(const std::vector<store::NamedBaseline>& baselines, const TextStyle& style);
/// A JSON array: reports/schema/baselines.schema.json
std::string baselines_json(const std::vector<store::NamedBaseline>& baselines);

}  // namespace ddbench::reports
