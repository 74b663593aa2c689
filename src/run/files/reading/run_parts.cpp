// Opens rows and the encoding stored with them, and makes the model from the settings.
#include "run_parts.hpp"

#include <fmt/format.h>

#include "flymc/core/error.hpp"
#include "flymc/core/mention.hpp"
#include "flymc/run/files/settings/families.hpp"
#include "flymc/run/files/settings/priors.hpp"

namespace flymc {

RunParts parts_of(StoreFile rows, const Settings& settings) {
  Encoding encoding = encoding_in(rows, settings);
  if (encoding.stored_rows() != rows.store.rows())
    throw InputError(fmt::format("the files of rows hold {} of {} rows; delete them, and {} makes them again",
                                 rows.store.rows(), encoding.stored_rows(), mention_action("resume")));
  auto names = coefficient_names(encoding, settings);
  Model model = make_model(settings, encoding);
  return {std::move(rows), std::move(encoding), std::move(names), std::move(model)};
}

RunParts open_parts(const RunDirectory& run) {
  check_rows(run);
  return parts_of(open_unverified(run), run.settings());
}

}  // namespace flymc
