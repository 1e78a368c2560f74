#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace ddbench::cli {

/// What the chosen subcommand does; returns the exit code. Set while the command line is parsed, called after
/// it.
using Action = std::function<int()>;

// One file a subcommand. Each adds itself to `app` and sets `action` when it was chosen.
void add_run_command(CLI::App& app, Action& action);
void add_sweep_command(CLI::App& app, Action& action);
void add_micro_command(CLI::App& app, Action& action);
void add_show_command(CLI::App& app, Action& action);
void add_list_command(CLI::App& app, Action& action);
void add_report_command(CLI::App& app, Action& action);
void add_gate_command(CLI::App& app, Action& action);
void add_gui_command(CLI::App& app, Action& action);
void add_serve_command(CLI::App& app, Action& action);
void add_history_command(CLI::App& app, Action& action);
void add_baseline_command(CLI::App& app, Action& action);
void add_doctor_command(CLI::App& app, Action& action);
void add_scaling_command(CLI::App& app, Action& action);
void add_predict_command(CLI::App& app, Action& action);
void add_advise_command(CLI::App& app, Action& action);
void add_diagnose_command(CLI::App& app, Action& action);
void add_batch_command(CLI::App& app, Action& action);
void add_fit_command(CLI::App& app, Action& action);
void add_compare_command(CLI::App& app, Action& action);
void add_import_command(CLI::App& app, Action& action);
void add_db_command(CLI::App& app, Action& action);
void add_explain_command(CLI::App& app, Action& action);
void add_completion_command(CLI::App& app, Action& action);
void add_man_command(CLI::App& app, Action& action);
void add_worker_command(CLI::App& app, Action& action);

}  // namespace ddbench::cli
