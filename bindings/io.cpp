// SPDX-License-Identifier: Apache-2.0
/// @file  Python face of io/: files of models, trajectories and states, and models as bytes.
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "bindings.hpp"
#include "farfield/base/error.hpp"
#include "farfield/io/model_file.hpp"
#include "farfield/io/trajectory_file.hpp"

namespace farfield::python {

namespace nb = nanobind;
using namespace nb::literals;

namespace {

using Path = std::filesystem::path;
using ModelAndParameters = std::pair<std::shared_ptr<Model>, Parameters>;

/// Python knows no const: a Model offers nothing that changes it.
ModelAndParameters as_pair(LoadedModel loaded) {
    return {std::const_pointer_cast<Model>(loaded.model), std::move(loaded.parameters)};
}

/// FileError is an OSError. Its text may hold a path that is not UTF-8: such bytes are shown as replacement characters.
void bind_error(nb::module_& m) {
    const nb::object type = nb::steal(PyErr_NewExceptionWithDoc(
        "farfield._core.FileError", "A file that cannot be read or written, or is truncated, foreign or damaged.",
        PyExc_OSError, nullptr));
    m.attr("FileError") = type;
    nb::register_exception_translator(
        [](const std::exception_ptr& thrown, void* payload) {
            try {
                std::rethrow_exception(thrown);
            } catch (const FileError& error) {
                const char* what = error.what();
                const nb::object text =
                    nb::steal(PyUnicode_DecodeUTF8(what, static_cast<Py_ssize_t>(std::strlen(what)), "replace"));
                if (text.is_valid()) PyErr_SetObject(static_cast<PyObject*>(payload), text.ptr());
            }
        },
        type.ptr());
}

void bind_model_files(nb::module_& m) {
    m.def(
        "save_model",
        [](const Path& path, const Model& model, const Parameters& parameters) {
            const nb::gil_scoped_release unlocked;
            save_model(path, model, parameters);
        },
        "path"_a, "model"_a, "parameters"_a,
        "Writes the model and its parameters, without loss. The file is complete or not there at all.");
    m.def(
        "load_model",
        [](const Path& path) -> ModelAndParameters {
            const nb::gil_scoped_release unlocked;
            return as_pair(load_model(path));
        },
        "path"_a, "What save_model wrote. Raises FileError when the file is missing, truncated, foreign or damaged.");
    m.def(
        "model_to_bytes",
        [](const Model& model, const Parameters& parameters) {
            const std::string bytes = [&] {
                const nb::gil_scoped_release unlocked;
                return model_to_bytes(model, parameters);
            }();
            return nb::bytes(bytes.data(), bytes.size());
        },
        "model"_a, "parameters"_a, "The bytes that save_model would write.");
    m.def(
        "model_from_bytes",
        [](const nb::bytes& data) -> ModelAndParameters {
            const std::string_view bytes(data.c_str(), data.size());
            const nb::gil_scoped_release unlocked;
            return as_pair(model_from_bytes(bytes));
        },
        "data"_a, "The model and parameters of model_to_bytes.");
}

void bind_trajectory_files(nb::module_& m) {
    m.def(
        "save_trajectory",
        [](const Path& path, const Trajectory& trajectory) {
            const nb::gil_scoped_release unlocked;
            save_trajectory(path, trajectory);
        },
        "path"_a, "trajectory"_a,
        "Writes the trajectory with its model and the options of its contact model, without loss.");
    m.def(
        "load_trajectory",
        [](const Path& path) {
            const nb::gil_scoped_release unlocked;
            return load_trajectory(path);
        },
        "path"_a,
        "What save_trajectory wrote, ready for rollout_vjp. Raises FileError when the file is missing, truncated, "
        "foreign or "
        "damaged.");
    m.def(
        "save_state",
        [](const Path& path, const State& state) {
            const nb::gil_scoped_release unlocked;
            save_state(path, state);
        },
        "path"_a, "state"_a, "Writes q and v, without loss.");
    m.def(
        "load_state",
        [](const Path& path) {
            const nb::gil_scoped_release unlocked;
            return load_state(path);
        },
        "path"_a, "What save_state wrote.");
}

}  // namespace

void bind_io(nb::module_& m) {
    bind_error(m);
    bind_model_files(m);
    bind_trajectory_files(m);
}

}  // namespace farfield::python
