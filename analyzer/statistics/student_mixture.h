#pragma once

#include <vector>

namespace ddbench::analyzer {

/// A mixture of Student t distributions, all centred on 0: the distribution of an error whose spread is
/// itself uncertain.
class StudentMixture {
 public:
  struct Component {
    double weight = 1;  ///< the weights sum to 1
    double scale = 0;   ///< standard error, above 0
    double degrees_of_freedom = 1;
  };
  /// Throws Error{kBadInput} without components.
  explicit StudentMixture(std::vector<Component> components);

  const std::vector<Component>& components() const noexcept { return components_; }
  double probability_at_most(double bound) const;
  /// Inverse of probability_at_most, for 0 < share < 1.
  double quantile(double share) const;

 private:
  std::vector<Component> components_;
};

}  // namespace ddbench::analyzer
