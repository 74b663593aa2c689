// The modes of a log posterior that may have several; private to the anchor.
#pragma once

#include <vector>

#include "newton.hpp"

namespace flymc {

// The modes that a search from several places comes to, the highest first; see find_anchor. Of a family that cannot be
// eased it is the one that climb finds. Throws what that throws if no search finds any. The posterior counts all
// queries.
std::vector<Mode> find_modes(WeightedPosterior& posterior, const AnchorOptions& options);

// The anchor at the first of these modes, highest first, with the next that is far from it.
Anchor highest(std::vector<Mode> modes);

}  // namespace flymc
