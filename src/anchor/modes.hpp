// The modes of a log posterior that may have several; private to the anchor.
#pragma once

#include <vector>

#include "newton.hpp"

namespace flymc {

// The modes found from several starts, the highest first; see find_anchor. For a family that cannot be eased it is the
// one mode that climb finds. Throws as climb does if no search finds a mode. The posterior counts all queries.
std::vector<Mode> find_modes(WeightedPosterior& posterior, const AnchorOptions& options);

// The anchor at the first of these modes, highest first, with the next mode that is far from it as `other`.
Anchor highest(std::vector<Mode> modes);

}  // namespace flymc
