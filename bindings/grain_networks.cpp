// SPDX-License-Identifier: Apache-2.0
/// @file  Contact maps of grains as networks, in Python.
#include <nanobind/nanobind.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "bindings.hpp"
#include "farfield/base/error.hpp"
#include "farfield/io/network_file.hpp"

namespace farfield::python {

namespace nb = nanobind;
using namespace nb::literals;
using namespace farfield::grains;

namespace {

std::shared_ptr<PairNetworks> train(const GrainShape& a, const GrainShape& b, int layers, int width, bool paper,
                                    int samples, int steps, int batch, std::uint64_t seed,
                                    const std::function<void(int, int)>& progress) {
    const TrainingOptions options{.layers = layers,
                                  .width = width,
                                  .activation = paper ? Activation::Relu : Activation::Softplus,
                                  .encoding = paper ? Encoding::RawTheta : Encoding::CosSin,
                                  .samples = samples,
                                  .steps = steps,
                                  .batch = batch,
                                  .seed = seed};
    return std::make_shared<PairNetworks>(train_networks(a, b, options, progress));
}

}  // namespace

void bind_grain_networks(nb::module_& m) {
    const TrainingOptions defaults;
    nb::class_<PairNetworks>(m, "GrainNetworks", "Contact map of a pair as two small networks.")
        .def_prop_ro("layers", [](const PairNetworks& n) { return n.distance.layers(); })
        .def_prop_ro("width", [](const PairNetworks& n) { return n.distance.width(); })
        .def_prop_ro("num_parameters",
                     [](const PairNetworks& n) { return n.distance.parameters().size() + n.arm.parameters().size(); });
    m.def("grain_train_networks", &train, "a"_a, "b"_a, nb::kw_only(), "layers"_a = defaults.layers,
          "width"_a = defaults.width, "paper"_a = false, "samples"_a = defaults.samples, "steps"_a = defaults.steps,
          "batch"_a = defaults.batch, "seed"_a = defaults.seed, "progress"_a.none() = nb::none(),
          "Trains the networks of a pair with Adam on exact labels. paper: ReLU on the raw angle, for replication. "
          "`progress(done, total)` is called every hundred steps.");
    m.def(
        "grain_network_map",
        [](const PairNetworks& networks, const GrainShape& a, const GrainShape& b) {
            return std::const_pointer_cast<ContactMap>(make_network_map(networks, a, b));
        },
        "networks"_a, "a"_a, "b"_a, "The map of networks; refused unless they were trained for these shapes.");
    m.def("save_grain_networks", &save_networks, "path"_a, "networks"_a, "audit"_a);
    m.def(
        "load_grain_networks",
        [](const std::filesystem::path& path) { return std::make_shared<PairNetworks>(load_networks(path)); }, "path"_a,
        "Networks of a file, ours or trained elsewhere (tensor names as of torch.nn.Sequential).");
}

}  // namespace farfield::python
