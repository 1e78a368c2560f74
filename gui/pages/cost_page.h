#pragma once

#include <map>
#include <optional>
#include <string>

#include "gui/workspace/page.h"

class QLineEdit;

namespace ddbench::gui {

class FigureCard;
class TableCard;

/// What training costs on each SKU against how long it takes, with the Pareto front; prices can be changed.
class CostPage : public Page {
 public:
  explicit CostPage(Workspace& workspace);

  FigureCard& cost() noexcept { return *cost_; }
  TableCard& offers() noexcept { return *offers_; }
  TableCard& prices() noexcept { return *prices_; }
  QLineEdit& samples_field() noexcept { return *samples_; }
  /// In USD per hour and node; returns false when the text is not a price.
  bool set_price(const std::string& sku, const QString& text);

 protected:
  void load() override;
  bool suits(const Entries& runs) const override;

 private:
  /// None where the field is empty, or holds no number: that is said on the page.
  std::optional<double> wanted_samples();

  QLineEdit* samples_;
  FigureCard* cost_;
  TableCard* offers_;
  TableCard* prices_;
  std::vector<std::string> skus_;               ///< of the rows of the prices
  std::map<std::string, std::string> changed_;  ///< SKU -> "NAME=USD"
};

}  // namespace ddbench::gui
