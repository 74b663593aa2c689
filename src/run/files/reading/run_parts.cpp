// Opens rows and the encoding stored with them, and makes the model from the settings.
#include "run_parts.hpp"

#include <fmt/format.h>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/run/files/settings/families.hpp"
#include "flymc/run/files/settings/group_settings.hpp"
#include "flymc/run/files/settings/priors.hpp"

namespace flymc {

RunParts parts_of(StoreFile rows, const Settings& settings) {
  Encoding encoding = encoding_in(rows, settings);
  if (encoding.stored_rows() != rows.store.rows())
    throw InputError(fmt::format("the files of rows hold {} of {} rows; delete them, and {} makes them again",
                                 rows.store.rows(), encoding.stored_rows(), mention_action("resume")));
  auto names = parameter_names(encoding, settings);
  Model model = make_model(settings, encoding);
  RunParts out{std::move(rows), std::move(encoding), std::move(names), std::move(model)};
  if (!out.encoding.factors().empty()) out.groups = make_group_model(settings, out.encoding, out.model);
  return out;
}

Vector RunParts::shown(const Vector& theta) const {
  if (!groups) return encoding.to_original(model.parameters(theta), model.arrangement().blocks());
  const GroupLayout layout(*groups, rows.store);
  Vector out(layout.head());
  out << encoding.to_original(model.parameters(layout.coefficients(theta)), model.arrangement().blocks()),
      scales_at(*groups, layout, theta);
  return out;
}

Vector RunParts::effects(const Vector& theta) const {
  return effects_at(*groups, GroupLayout(*groups, rows.store), theta);
}

void refuse_groups(const RunDirectory& run) {
  if (has_groups(run.settings()))
    throw InputError(
        fmt::format("{}: its model has groups, which checks and leave-one-out do not support yet; {} and {} do",
                    run.path().string(), mention_action("summary"), mention_action("export")));
}

RunParts open_parts(const RunDirectory& run) {
  check_rows(run);
  refuse_groups(run);
  return parts_of(open_unverified(run), run.settings());
}

}  // namespace flymc
