#pragma once

#include <string>
#include <vector>

namespace ddbench::cli {

struct ListSkus {
  std::string catalogue;            ///< --skus
  std::vector<std::string> prices;  ///< --price
  bool json = false;
};

/// `ddbench list skus`: the catalogue's data for each size of node.
int list_skus(const ListSkus& options);

}  // namespace ddbench::cli
