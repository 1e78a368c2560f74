#pragma once

#include "ddbench/workload/workload.h"

namespace ddbench::workload {

WorkloadInfo mlp_info();

}  // namespace ddbench::workload
