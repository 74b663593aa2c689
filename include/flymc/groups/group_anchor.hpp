// The anchor of a model with groups: about the mean of its coefficients and effects, with scales that suit them.
#pragma once

#include <vector>

#include "flymc/groups/grouped_rows.hpp"

namespace flymc {

// The posterior near the anchor is about normal in
//   the border plus the exchanged part of the other factors' effects: of their means, for example,
//   L_g'u_g + W_g border for a group of the leading factor: its effects given the border, whitened,
//   L_g'(u_g less what it gave) for a group of another factor,
// where u_g is what rows see of the group (GroupedRows::seen). These hardly change when a constant moves from the
// intercept to the effects of a factor or back. In them a row's change is a sum of one number for the border and one for
// each group, each of which is bounded on its own.
struct GroupMetric {
  // With several factors standard deviations are multiplied by this, because the L_g are computed given the other
  // factors. The L_g already include it.
  double wider = 1.0;
  Matrix border;  // L, lower triangular
  // The L_g of each factor, k lines for each group. Those of a carried factor only say how far its own effects vary.
  std::vector<RowMatrix> groups;
  RowMatrix couplings;  // the W_g of the leading factor
  // For each factor that is neither leading nor carried, what is exchanged: the sums over the groups of these numbers
  // times their effects. A line for each exchange.
  std::vector<RowMatrix> exchanged;
};

struct GroupAnchor {
  Effects at;
  std::vector<Matrix> covariances;  // of each factor's effects, a little wider than at the mode
  GroupMetric metric;
  RowId queries = 0;
  int passes = 0;
};

// Newton's method for coefficients and effects, with the scales by expectation and maximisation. Each factor but the
// leading one has steps of its own, which need a pass each. The result need not be exact: any anchor gives exact draws.
GroupAnchor find_group_anchor(const GroupedRows& rows, const Execution& execution);

// Moves from the mode to about the mean, which differs where the skewed likelihoods of many groups add up. One pass, of
// two queries for each row. `given_carried` is the metric with the effects that others carry held fixed, as they are here.
void move_to_mean(const GroupedRows& rows, const GroupMetric& metric, const GroupMetric& given_carried,
                  const Execution& execution, Effects& at);

}  // namespace flymc
