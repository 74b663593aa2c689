// Checks of what was learnt about a target.
#include "flymc/data/files/encoding/target_encoding.hpp"

#include <algorithm>

#include "refusal.hpp"

namespace flymc {
namespace {

bool all_finite(const std::vector<double>& numbers) {
  return std::ranges::all_of(numbers, [](double x) { return std::isfinite(x); });
}

}  // namespace

TargetEncoding::TargetEncoding(const TargetOptions& options, ColumnKind its_column)
    : name(options.name),
      kind(options.kind),
      part(options.part),
      column(its_column),
      trials(options.trials),
      times(options.times),
      event(options.event),
      scale(options.scale),
      shape(options.shape) {}

bool TargetEncoding::suits(const TargetOptions& options) const {
  return kind == options.kind && part == options.part && trials == options.trials && times == options.times &&
         event == options.event && is_feature() == !options.scale.empty() && has_shape() == !options.shape.empty();
}

void TargetEncoding::check() const {
  const bool number = kind == TargetKind::number;
  if (number ? !classes.empty() : kind == TargetKind::two_classes ? classes.size() != 2 : classes.size() < 2)
    refuse_encoding("classes", name);
  if (!class_values.empty() && class_values.size() != classes.size()) refuse_encoding("values of classes", name);
  if (cuts() > 0 && class_weights.size() != classes.size()) refuse_encoding("weights of classes", name);
  if (values.size() != weights.size() || !all_finite(values) || !all_finite(weights))
    refuse_encoding("weights of targets", name);
  const bool numbers_fit =
      number || (!is_feature() && !has_shape() && !times && !trials && part != CountPart::positive);
  const bool facts_fit = !(is_feature() && has_shape()) && !(times && !is_feature()) && !(!event.empty() && !times) &&
                         !(part == CountPart::whether_positive && kind != TargetKind::two_classes);
  if (!numbers_fit || !facts_fit) refuse_encoding("facts", name);
  if (is_feature() && !sound_scale(mean, unit())) refuse_encoding("numbers", name);
  if (!std::isfinite(seen_weight) || zeros < 0) refuse_encoding("numbers of rows", name);
}

}  // namespace flymc
