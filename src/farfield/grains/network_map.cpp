// SPDX-License-Identifier: Apache-2.0
#include "farfield/grains/network_map.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "farfield/base/error.hpp"
#include "farfield/grains/angle_lanes.hpp"
#include "farfield/grains/network_lanes.hpp"

namespace farfield::grains {
namespace {

double wrapped(double theta) {
    const double turn = 2.0 * std::numbers::pi;
    return theta - turn * std::floor((theta + std::numbers::pi) / turn);
}

class NetworkMap final : public ContactMap {
 public:
    NetworkMap(const PairNetworks& networks, double scale, double reach, std::string description)
        : distance_(networks.distance),
          arm_(networks.arm),
          circular_(networks.encoding == Encoding::CosSin),
          symmetry_(networks.symmetry),
          scale_(scale),
          reach_(reach),
          description_(std::move(description)) {}

    void evaluate(std::span<const Relative> poses, MapValue* values) const override {
        std::array<std::size_t, kNetworkBatch> index{};
        std::size_t count = 0;
        for (std::size_t i = 0; i < poses.size(); ++i) {
            values[i] = MapValue{};
            if (poses[i].x * poses[i].x + poses[i].y * poses[i].y >= reach_ * reach_) continue;
            index[count++] = i;
            if (count == kNetworkBatch) {
                evaluate_batch(poses, index.data(), count, values);
                count = 0;
            }
        }
        if (count > 0) evaluate_batch(poses, index.data(), count, values);
    }

    [[nodiscard]] std::string description() const override { return description_; }

 private:
    using Row = std::array<float, kNetworkBatch>;

    void evaluate_batch(std::span<const Relative> poses, const std::size_t* index, std::size_t count,
                        MapValue* values) const {
        thread_local NetworkScratch scratch;  // carries no values from call to call
        std::array<Row, 4> input{}, gradient;
        std::array<double, kNetworkBatch> angle{}, sine{}, cosine{};
        Row distance, arm;
        const std::size_t first = circular_ ? 2 : 1;
        for (std::size_t c = 0; c < count; ++c) angle[c] = symmetry_ * poses[index[c]].theta;
        if (circular_) sin_cos(angle.data(), count, sine.data(), cosine.data());
        for (std::size_t c = 0; c < count; ++c) {
            const Relative& pose = poses[index[c]];
            input[0][c] = static_cast<float>(circular_ ? cosine[c] : wrapped(angle[c]));
            if (circular_) input[1][c] = static_cast<float>(sine[c]);
            input[first][c] = static_cast<float>(pose.x / scale_);
            input[first + 1][c] = static_cast<float>(pose.y / scale_);
        }
        evaluate_network(distance_, input[0].data(), scratch, distance.data());
        bool touching = false;
        for (std::size_t c = 0; c < count; ++c) {
            values[index[c]].distance = scale_ * static_cast<double>(distance[c]);
            touching = touching || distance[c] < 0.0f;
        }
        if (!touching) return;
        network_gradient(distance_, scratch, gradient[0].data());
        evaluate_network(arm_, input[0].data(), scratch, arm.data());
        for (std::size_t c = 0; c < count; ++c) {
            MapValue& value = values[index[c]];
            const auto slope = [&](std::size_t row) { return static_cast<double>(gradient[row][c]); };
            value.g_theta = scale_ * (circular_ ? symmetry_ * (slope(1) * cosine[c] - slope(0) * sine[c]) : slope(0));
            value.g_x = slope(first);
            value.g_y = slope(first + 1);
            value.arm = scale_ * static_cast<double>(arm[c]);
        }
    }

    PackedNetwork distance_, arm_;
    bool circular_;
    double symmetry_, scale_, reach_;
    std::string description_;
};

}  // namespace

std::shared_ptr<const ContactMap> make_network_map(const PairNetworks& networks, const GrainShape& a,
                                                   const GrainShape& b) {
    const std::string place = "contact map of '" + a.name + "' and '" + b.name + "'";
    if (networks.outlines != std::array{outline_hash(a), outline_hash(b)})
        fail(place, ": trained for other outlines, expected the hashes of these shapes (train them anew)");
    const double ratio = b.radius / a.radius;
    if (std::abs(networks.radius_ratio - ratio) > 1e-9 * ratio)
        fail(place, ": trained for a ratio of radii ", networks.radius_ratio, ", expected ", ratio);
    if (networks.symmetry < 1 || b.symmetry % networks.symmetry != 0)
        fail(place, ": symmetry ", networks.symmetry, ", expected a divisor of ", b.symmetry);
    const int inputs = networks.encoding == Encoding::CosSin ? 4 : 3;
    for (const Network* network : {&networks.distance, &networks.arm}) {
        if (network->inputs() != inputs) fail(place, ": ", network->inputs(), " inputs, expected ", inputs);
        if (!network->parameters().allFinite()) fail(place, ": holds a parameter that is not finite");
    }
    const std::string text = "network " + std::to_string(networks.distance.layers()) + "x" +
                             std::to_string(networks.distance.width()) + " " + a.name + " " + b.name;
    return std::make_shared<const NetworkMap>(networks, std::max(a.radius, b.radius), a.radius + b.radius, text);
}

}  // namespace farfield::grains
