// The parts of the module, in the order in which they are bound.
#pragma once

#include <nanobind/nanobind.h>

namespace flymc {

// Lets other threads of Python go on during a call.
using Free = nanobind::call_guard<nanobind::gil_scoped_release>;

void bind_settings(nanobind::module_& m);
void bind_run(nanobind::module_& m);
void bind_study(nanobind::module_& m);
void bind_leave_one_out(nanobind::module_& m);

}  // namespace flymc
