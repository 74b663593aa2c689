// Names and a linear map.
#include "flymc/run/reported.hpp"

#include <fmt/format.h>

namespace flymc {

Reported::Reported(const std::vector<std::string>& coefficients, const std::vector<std::string>& classes,
                   std::size_t reference)
    : names_(coefficients), reference_(reference) {
  if (classes.empty()) return;
  columns_ = static_cast<Index>(coefficients.size() / classes.size());
  const auto first = names_.begin() + first_subtracted();
  names_.erase(first, first + columns_);
  for (std::string& name : names_) name.insert(name.size() - 1, " - " + classes[reference]);
  remark_ =
      fmt::format("coefficients are shown as differences from those of class '{}', which is all that the data know",
                  classes[reference]);
}

Vector Reported::at(const Vector& theta) const {
  if (columns_ == 0) return theta;
  Vector out(size());
  for (Index i = 0; i < size(); ++i) out[i] = theta[coefficient(i)] - theta[subtracted(i)];
  return out;
}

Vector Reported::sd(const Matrix& factor) const {
  Vector variance = Vector::Zero(size());
  for (Index j = 0; j < factor.cols(); ++j) variance += at(factor.col(j)).cwiseAbs2();
  return variance.cwiseSqrt();
}

}  // namespace flymc
