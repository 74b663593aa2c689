// All that a user of the library needs.
#pragma once

#include "flymc/bound/laws.hpp"
#include "flymc/core/error.hpp"
#include "flymc/data/cut_rows.hpp"
#include "flymc/model/binomial.hpp"
#include "flymc/model/cloglog.hpp"
#include "flymc/model/gaussian.hpp"
#include "flymc/model/logistic.hpp"
#include "flymc/model/model.hpp"
#include "flymc/model/poisson.hpp"
#include "flymc/model/probit.hpp"
#include "flymc/model/residual.hpp"
#include "flymc/model/softmax.hpp"
#include "flymc/model/student_t.hpp"
#include "flymc/model/survival.hpp"
#include "flymc/model/truncated_poisson.hpp"
#include "flymc/run/fit.hpp"
