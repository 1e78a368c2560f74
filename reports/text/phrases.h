#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/measured.h"
#include "core/run_case/records.h"
#include "core/text/quantity.h"

namespace ddbench::reports {

// Phrases that several reports use. Text from users is made safe (visible()).

std::string gpus_in_words(int count);
std::string scaling_in_words(
    const RunCase& run_case);  ///< "weak scaling, batch 64 per GPU"; empty if nothing is trained
/// "all ranks" of the empty label (analyzer::communicator_label), else the label.
std::string communicator_in_words(const std::string& label);  ///< "1 GPU", "16 GPUs"
/// "4 nodes × 4 GPUs = 16 ranks"; "16 ranks, GPUs per node not known" where the nodes are not stated.
std::string shape_in_words(const RunCase& run_case);
/// "4 × 4", nodes by GPUs of each; "? × ? = 16" where the nodes are not stated.
std::string shape_in_short(const RunCase& run_case);
std::string provenance_in_words(
    ProvenanceSet provenance);  ///< "measured, oversubscribed"; "unknown" when empty
/// For narrow columns: "M O"; provenance_legend() explains the letters in `used`.
std::string provenance_in_letters(ProvenanceSet provenance);
std::string provenance_legend(ProvenanceSet used);
std::string part_in_words(store::StepPart part);          ///< "exposed transfer"
std::string part_in_words(std::string_view stored_name);  ///< the same for "exposed_transfer"
std::string sentence(std::string text);                   ///< begins with a capital letter
std::string sweep_in_words(const std::string& id);        ///< "sweep 2026...": most ids begin with that word
std::string utc_time(std::int64_t wall_ns);               ///< "2026-11-21 00:19"; "" for 0
std::string count_in_words(std::int64_t count);           ///< "10,240"
using ddbench::time_in_words;
/// With its unit, in the digits of tables: times and rates have four, others three. Knows the units of quantity() and "bytes".
std::string value_in_words(double value, std::string_view unit);
std::string short_id(const std::string& run_id);          ///< its end, which refers to the run as well and can be typed
std::string percent_in_words(double share);               ///< "11.8%" of 0.118
/// "119.2" for samples/s, in a column of that name; "59.6 steps/s" if `work_per_s` counts steps of all
/// `ranks` instead, because the number of samples per step is not known.
std::string rate_in_words(double work_per_s, bool counts_samples, double ranks);

}  // namespace ddbench::reports
