// SPDX-License-Identifier: Apache-2.0
#include "farfield/io/network_file.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "farfield/io/atomic_file.hpp"
#include "farfield/io/tensor_arrays.hpp"

namespace farfield {
namespace {

using grains::Activation;
using grains::Encoding;
using grains::Network;
using grains::PairNetworks;

constexpr const char* kNetworkFormat = "farfield.grain_network";
constexpr int kNetworkVersion = 1;
using Weights = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

std::string decimal(double value) {
    std::ostringstream text;
    text.precision(17);
    text << value;
    return text.str();
}

/// The whole of `text` as a number.
double number(const std::string& text, const std::string& what, const std::string& place) {
    std::size_t used = 0;
    double value = 0.0;
    try {
        value = std::stod(text, &used);
    } catch (const std::exception&) {
        used = 0;
    }
    if (used == 0 || used != text.size() || !std::isfinite(value))
        fail_file(place, ": ", what, " '", text, "', expected a number");
    return value;
}

/// Values of a tensor of 32- or 64-bit numbers.
Eigen::VectorXd values_of(const Tensor& tensor, const std::string& name, const std::string& place) {
    const auto count = static_cast<Eigen::Index>(tensor.data.size() / item_size(tensor.type));
    if (tensor.type == TensorType::F64) {
        Eigen::VectorXd out(count);
        std::memcpy(out.data(), tensor.data.data(), tensor.data.size());
        return out;
    }
    if (tensor.type != TensorType::F32)
        fail_file(place, ": tensor '", name, "': dtype ", to_string(tensor.type), ", expected F32 or F64");
    Eigen::VectorXf out(count);
    std::memcpy(out.data(), tensor.data.data(), tensor.data.size());
    return out.cast<double>();
}

/// Numbers k of "prefix.k.weight", ascending.
std::vector<int> layer_numbers(const TensorFile& file, const std::string& prefix) {
    std::vector<int> out;
    for (const auto& [name, tensor] : file.tensors) {
        for (int k = 0; k < 64; ++k) {
            if (name == prefix + "." + std::to_string(k) + ".weight") out.push_back(k);
        }
    }
    std::sort(out.begin(), out.end());
    return out;
}

Network read_network(const TensorFile& file, const std::string& prefix, Activation activation, const std::string& place,
                     std::size_t& used) {
    const std::vector<int> layers = layer_numbers(file, prefix);
    if (layers.size() < 2) fail_file(place, ": ", layers.size(), " layers of '", prefix, "', expected at least 2");
    const auto tensor = [&](int layer, const char* what, std::size_t rank) -> const Tensor& {
        const std::string name = prefix + "." + std::to_string(layer) + "." + what;
        const auto found = file.tensors.find(name);
        if (found == file.tensors.end()) fail_file(place, ": no tensor '", name, "', expected one");
        if (found->second.shape.size() != rank)
            fail_file(place, ": tensor '", name, "': rank ", found->second.shape.size(), ", expected ", rank);
        ++used;
        return found->second;
    };
    const auto& first = file.tensors.at(prefix + "." + std::to_string(layers[0]) + ".weight").shape;
    if (first.size() != 2)
        fail_file(place, ": the first weight of '", prefix, "' has rank ", first.size(), ", expected 2");
    Network network(static_cast<int>(std::min<std::int64_t>(first[1], 16)), static_cast<int>(layers.size()) - 1,
                    static_cast<int>(std::min<std::int64_t>(first[0], 4096)), activation);
    for (int k = 0; k <= network.layers(); ++k) {
        const std::string name = prefix + "." + std::to_string(layers[static_cast<std::size_t>(k)]);
        const Tensor& weight = tensor(layers[static_cast<std::size_t>(k)], "weight", 2);
        const Tensor& bias = tensor(layers[static_cast<std::size_t>(k)], "bias", 1);
        if (weight.shape[0] != network.size(k + 1) || weight.shape[1] != network.size(k) ||
            bias.shape[0] != network.size(k + 1))
            fail_file(place, ": '", name, "': shape (", weight.shape[0], ", ", weight.shape[1], "), expected (",
                      network.size(k + 1), ", ", network.size(k), ") and as many biases");
        const Eigen::VectorXd w = values_of(weight, name + ".weight", place),
                              b = values_of(bias, name + ".bias", place);
        network.parameters().segment(network.offset(k), w.size()) = w;
        network.parameters().segment(network.offset(k) + w.size(), b.size()) = b;
    }
    return network;
}

void write_network(TensorFile& file, const std::string& prefix, const Network& network) {
    for (int k = 0; k <= network.layers(); ++k) {
        const Eigen::Index outputs = network.size(k + 1), inputs = network.size(k);
        const double* begin = network.parameters().data() + network.offset(k);
        const std::string name = prefix + "." + std::to_string(2 * k);
        put(file, name + ".weight", Weights(Eigen::Map<const Weights>(begin, outputs, inputs)));
        put(file, name + ".bias",
            Eigen::VectorXd(Eigen::Map<const Eigen::VectorXd>(begin + outputs * inputs, outputs)));
    }
}

}  // namespace

void save_networks(const std::filesystem::path& path, const PairNetworks& networks, const grains::MapAudit& audit) {
    TensorFile file;
    set_format(file, kNetworkFormat, kNetworkVersion);
    file.metadata["activation"] = networks.distance.activation() == Activation::Softplus ? "softplus10" : "relu";
    file.metadata["encoding"] = networks.encoding == Encoding::CosSin ? "cos_sin" : "raw_theta";
    file.metadata["symmetry"] = std::to_string(networks.symmetry);
    file.metadata["radius_ratio"] = decimal(networks.radius_ratio);
    file.metadata["unit"] = "larger circumradius";
    file.metadata["reach"] = decimal((1.0 + networks.radius_ratio) / std::max(1.0, networks.radius_ratio));
    file.metadata["rmse"] = decimal(audit.rmse);
    file.metadata["normal_median"] = decimal(audit.normal_median);
    file.metadata["normal_p90"] = decimal(audit.normal_p90);
    file.metadata["wrap_jump"] = decimal(audit.wrap_jump);
    file.metadata["audit_samples"] = std::to_string(audit.samples);
    file.metadata["outline_a"] = hash_text(networks.outlines[0]);
    file.metadata["outline_b"] = hash_text(networks.outlines[1]);
    write_network(file, "distance", networks.distance);
    write_network(file, "arm", networks.arm);
    write_tensor_file(path, file);
}

PairNetworks load_networks(const std::filesystem::path& path) {
    const TensorFile file = read_tensor_file(path);
    TensorReader reader(file, file_place(path), kNetworkFormat, kNetworkVersion);
    const std::string& place = reader.place();
    const std::string &activation = reader.text("activation"), &encoding = reader.text("encoding");
    if (activation != "softplus10" && activation != "relu")
        fail_file(place, ": activation '", activation, "', expected softplus10 or relu");
    if (encoding != "cos_sin" && encoding != "raw_theta")
        fail_file(place, ": encoding '", encoding, "', expected cos_sin or raw_theta");
    const Activation kind = activation == "relu" ? Activation::Relu : Activation::Softplus;
    std::size_t used = 0;
    PairNetworks out = checked_contents(place, [&] {
        return PairNetworks{.distance = read_network(file, "distance", kind, place, used),
                            .arm = read_network(file, "arm", kind, place, used)};
    });
    if (used != file.tensors.size()) fail_file(place, ": ", file.tensors.size() - used, " unknown tensors");
    out.encoding = encoding == "cos_sin" ? Encoding::CosSin : Encoding::RawTheta;
    const double symmetry = number(reader.text("symmetry"), "symmetry", place);
    if (!(symmetry >= 1.0 && symmetry <= 64.0)) fail_file(place, ": symmetry ", symmetry, ", expected 1 to 64");
    out.symmetry = static_cast<int>(symmetry);
    out.radius_ratio = number(reader.text("radius_ratio"), "radius_ratio", place);
    out.outlines = {hash_from_text(reader.text("outline_a"), place), hash_from_text(reader.text("outline_b"), place)};
    return out;
}

}  // namespace farfield
