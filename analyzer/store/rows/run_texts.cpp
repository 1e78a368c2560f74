#include "analyzer/store/rows/run_texts.h"

#include <nlohmann/json.hpp>

namespace ddbench::store {

using Json = nlohmann::ordered_json;

RunTexts::RunTexts(const RunRecord& run, CaseCache& cases)
    : run_case(cases.texts_of(run.run_case)), facts(Json(run.environment.facts).dump(-1, ' ', false, Json::error_handler_t::replace)) {}

}  // namespace ddbench::store
