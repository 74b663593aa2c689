// Names and a linear map.
#include "flymc/run/reported.hpp"

#include <fmt/format.h>

namespace flymc {

Reported::Reported(const std::vector<std::string>& coefficients, const std::vector<std::string>& classes) {
  if (classes.empty()) {
    names_ = coefficients;
    return;
  }
  const std::size_t columns = coefficients.size() / classes.size(), ending = classes.front().size() + 2;
  offset_ = static_cast<Index>(columns);
  for (std::size_t k = 1; k < classes.size(); ++k)
    for (std::size_t j = 0; j < columns; ++j) {
      const std::string& name = coefficients[j];
      names_.push_back(fmt::format("{}[{} - {}]", name.substr(0, name.size() - ending), classes[k], classes.front()));
    }
  remark_ =
      fmt::format("coefficients are shown as differences from those of class '{}', which is all that the data know",
                  classes.front());
}

Vector Reported::at(const Vector& theta) const {
  if (offset_ == 0) return theta;
  return theta.tail(size()) - theta.head(offset_).replicate(size() / offset_, 1);
}

Vector Reported::sd(const Matrix& factor) const {
  Vector variance = Vector::Zero(size());
  for (Index j = 0; j < factor.cols(); ++j) variance += at(factor.col(j)).cwiseAbs2();
  return variance.cwiseSqrt();
}

}  // namespace flymc
