// The C++ part of the Python package: a run and its stages. Settings are passed as texts under the names of the
// command's flags, so the module does not list them.
#include <nanobind/nanobind.h>

#include <exception>
#include <filesystem>
#include <string>
#include <utility>

#include "arguments.hpp"
#include "bindings.hpp"
#include "flymc/bound/bound.hpp"
#include "flymc/core/error.hpp"
#include "flymc/core/files.hpp"
#include "flymc/version.hpp"

namespace nb = nanobind;

NB_MODULE(_core, m) {
  using namespace flymc;
  m.doc() = "The C++ of flymc: runs and their stages.";

  const nb::object input_error = nb::exception<InputError>(m, "InputError", PyExc_ValueError);
  input_error.doc() = "Something that was given cannot be used; the message says what, where, and what to do.";
  const nb::object file_error = nb::exception<FileError>(m, "FileError", PyExc_OSError);
  file_error.doc() = "A file cannot be read or written: no space, no permission.";
  nb::exception<BoundViolation>(m, "BoundViolation", PyExc_RuntimeError).doc() =
      "A defect of flymc: a bound above its likelihood.";
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void* type) {
        try {
          std::rethrow_exception(thrown);
        } catch (const std::filesystem::filesystem_error& error) {
          const std::string text =
              error.path1().string() + ": " + error.code().message() + "; check the name and its permissions";
          PyErr_SetString(static_cast<PyObject*>(type), text.c_str());
        }
      },
      file_error.ptr());

  // This translator takes precedence over those of the types above: messages name Python's arguments.
  static std::pair<PyObject*, PyObject*> types;
  types = {input_error.ptr(), file_error.ptr()};
  nb::register_exception_translator(
      [](const std::exception_ptr& thrown, void*) {
        try {
          std::rethrow_exception(thrown);
        } catch (const InputError& error) {
          PyErr_SetString(types.first, in_arguments(error.what()).c_str());
        } catch (const FileError& error) {
          PyErr_SetString(types.second, in_arguments(error.what()).c_str());
        }
      },
      nullptr);

  m.attr("version") = FLYMC_VERSION;
  bind_settings(m);
  bind_run(m);
  bind_study(m);
  bind_leave_one_out(m);
}
