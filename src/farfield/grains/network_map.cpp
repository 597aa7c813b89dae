// SPDX-License-Identifier: Apache-2.0
#include "farfield/grains/network_map.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "farfield/base/error.hpp"

namespace farfield::grains {
namespace {

constexpr std::size_t kBatch = 64;

double wrapped(double theta) {
    const double turn = 2.0 * std::numbers::pi;
    return theta - turn * std::floor((theta + std::numbers::pi) / turn);
}

class NetworkMap final : public ContactMap {
 public:
    NetworkMap(std::shared_ptr<const PairNetworks> networks, double scale, double reach, std::string description)
        : networks_(std::move(networks)), scale_(scale), reach_(reach), description_(std::move(description)) {}

    void evaluate(std::span<const Relative> poses, MapValue* values) const override {
        std::array<std::size_t, kBatch> index{};
        std::size_t count = 0;
        for (std::size_t i = 0; i < poses.size(); ++i) {
            values[i] = MapValue{};
            if (poses[i].x * poses[i].x + poses[i].y * poses[i].y >= reach_ * reach_) continue;
            index[count++] = i;
            if (count == kBatch) {
                evaluate_batch(poses, index.data(), count, values);
                count = 0;
            }
        }
        if (count > 0) evaluate_batch(poses, index.data(), count, values);
    }

    [[nodiscard]] std::string description() const override { return description_; }

 private:
    void evaluate_batch(std::span<const Relative> poses, const std::size_t* index, std::size_t count,
                        MapValue* values) const {
        // Scratch carries no values from call to call.
        thread_local Network::Tape tape;
        thread_local Eigen::MatrixXd input, gradient;
        thread_local Eigen::RowVectorXd distance, arm;
        const bool circular = networks_->encoding == Encoding::CosSin;
        const Eigen::Index first = circular ? 2 : 1;
        input.resize(first + 2, static_cast<Eigen::Index>(count));
        for (std::size_t c = 0; c < count; ++c) {
            const Relative& pose = poses[index[c]];
            const auto column = static_cast<Eigen::Index>(c);
            if (circular) {
                input(0, column) = std::cos(networks_->symmetry * pose.theta);
                input(1, column) = std::sin(networks_->symmetry * pose.theta);
            } else {
                input(0, column) = wrapped(pose.theta);
            }
            input(first, column) = pose.x / scale_;
            input(first + 1, column) = pose.y / scale_;
        }
        networks_->distance.forward(input, tape, distance);
        networks_->distance.input_gradient(tape, gradient);
        networks_->arm.forward(input, tape, arm);
        for (std::size_t c = 0; c < count; ++c) {
            const auto column = static_cast<Eigen::Index>(c);
            const double turn = circular ? networks_->symmetry * (gradient(1, column) * input(0, column) -
                                                                  gradient(0, column) * input(1, column))
                                         : gradient(0, column);
            values[index[c]] = {scale_ * distance[column], scale_ * turn, gradient(first, column),
                                gradient(first + 1, column), scale_ * arm[column]};
        }
    }

    std::shared_ptr<const PairNetworks> networks_;
    double scale_, reach_;
    std::string description_;
};

}  // namespace

std::shared_ptr<const ContactMap> make_network_map(std::shared_ptr<const PairNetworks> networks, const GrainShape& a,
                                                   const GrainShape& b) {
    const std::string place = "contact map of '" + a.name + "' and '" + b.name + "'";
    if (networks->outlines != std::array{outline_hash(a), outline_hash(b)})
        fail(place, ": trained for other outlines, expected the hashes of these shapes (train them anew)");
    const double ratio = b.radius / a.radius;
    if (std::abs(networks->radius_ratio - ratio) > 1e-9 * ratio)
        fail(place, ": trained for a ratio of radii ", networks->radius_ratio, ", expected ", ratio);
    if (networks->symmetry < 1 || b.symmetry % networks->symmetry != 0)
        fail(place, ": symmetry ", networks->symmetry, ", expected a divisor of ", b.symmetry);
    const int inputs = networks->encoding == Encoding::CosSin ? 4 : 3;
    for (const Network* network : {&networks->distance, &networks->arm}) {
        if (network->inputs() != inputs) fail(place, ": ", network->inputs(), " inputs, expected ", inputs);
        if (!network->parameters().allFinite()) fail(place, ": holds a parameter that is not finite");
    }
    const std::string text = "network " + std::to_string(networks->distance.layers()) + "x" +
                             std::to_string(networks->distance.width()) + " " + a.name + " " + b.name;
    return std::make_shared<const NetworkMap>(std::move(networks), std::max(a.radius, b.radius), a.radius + b.radius,
                                              text);
}

}  // namespace farfield::grains
