// SPDX-License-Identifier: Apache-2.0
/// @file  Training of contact maps: exact labels around the contact boundary, Adam with warm-up and a cosine rate.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "farfield/base/error.hpp"
#include "farfield/base/random.hpp"
#include "farfield/geometry/polygon_obstacle.hpp"
#include "farfield/grains/network_map.hpp"
#include "farfield/optim/adam.hpp"

namespace farfield::grains {
namespace {

using Eigen::Vector2d;
constexpr int kSamplesPerAngle = 32;

struct Samples {
    Eigen::MatrixXd inputs;
    Eigen::RowVectorXd distance, arm;
};

/// Nine tenths of the samples lie within 0.1 circumradii of the boundary, the rest anywhere in reach.
Samples make_samples(const GrainShape& a, const GrainShape& b, const TrainingOptions& options, Random& random) {
    const bool circular = options.encoding == Encoding::CosSin;
    const Eigen::Index first = circular ? 2 : 1;
    Samples out{Eigen::MatrixXd(first + 2, options.samples), Eigen::RowVectorXd(options.samples),
                Eigen::RowVectorXd(options.samples)};
    const double reach = a.radius + b.radius;
    std::vector<ContactSegment> boundary;
    std::vector<double> lengths;
    Polygon turned;
    double theta = 0.0;
    for (int k = 0; k < options.samples; ++k) {
        if (k % kSamplesPerAngle == 0) {
            theta = uniform(random, -std::numbers::pi, std::numbers::pi);
            turned = transformed(b.outline, theta, Vector2d::Zero());
            boundary = obstacle_boundary(a.outline, turned);
            lengths.clear();
            for (const ContactSegment& segment : boundary)
                lengths.push_back((lengths.empty() ? 0.0 : lengths.back()) + (segment.q - segment.p).norm());
        }
        Vector2d shift;
        const double angle = uniform(random, -std::numbers::pi, std::numbers::pi);
        if (uniform(random) < 0.9) {
            const double along = uniform(random, 0.0, lengths.back());
            const auto found = std::lower_bound(lengths.begin(), lengths.end(), along);
            const ContactSegment& segment = boundary[static_cast<std::size_t>(found - lengths.begin())];
            const double offset = 0.1 * uniform(random);
            shift = segment.p + uniform(random) * (segment.q - segment.p) +
                    offset * Vector2d(std::cos(angle), std::sin(angle));
        } else {
            const double distance = reach * std::sqrt(uniform(random));
            shift = distance * Vector2d(std::cos(angle), std::sin(angle));
        }
        const PolygonDistance exact = distance_to_boundary(boundary, shift, interiors_meet(a.outline, turned, shift));
        if (circular) {
            out.inputs(0, k) = std::cos(b.symmetry * theta);
            out.inputs(1, k) = std::sin(b.symmetry * theta);
        } else {
            out.inputs(0, k) = theta;
        }
        out.inputs.col(k).tail<2>() = shift;
        out.distance[k] = exact.distance;
        out.arm[k] = 0.5 * (exact.point_a + exact.point_b).dot(exact.normal);
    }
    return out;
}

void initialise(Network& network, Random& random) {
    for (int layer = 0; layer <= network.layers(); ++layer) {
        // He initialisation; biases stay zero.
        const Eigen::Index count = static_cast<Eigen::Index>(network.size(layer)) * network.size(layer + 1);
        const double scale = std::sqrt(2.0 / network.size(layer));
        for (Eigen::Index k = 0; k < count; ++k)
            network.parameters()[network.offset(layer) + k] = scale * normal(random);
    }
}

double rate_at(const TrainingOptions& options, int step, int steps) {
    const int warm = std::max(1, steps / 50);
    if (step < warm) return options.first_rate * (step + 1) / warm;
    const double share = static_cast<double>(step - warm) / std::max(1, steps - warm);
    return options.last_rate +
           0.5 * (options.first_rate - options.last_rate) * (1.0 + std::cos(std::numbers::pi * share));
}

/// Gradients in single precision, which is twice as fast; parameters and their steps in double.
template <class Tick>
void fit(Network& network, const Eigen::MatrixXd& inputs, const Eigen::RowVectorXd& labels,
         const TrainingOptions& options, int steps, Random& random, Tick&& tick) {
    using Single = BasicNetwork<float>;
    Adam adam(network.parameters().size());
    Single single(network.inputs(), network.layers(), network.width(), network.activation());
    Single::Tape tape;
    Single::Matrix batch(inputs.rows(), options.batch);
    Single::RowVector wanted(options.batch), found;
    Single::Vector gradient;
    const float share = 1.0f / static_cast<float>(options.batch);
    for (int step = 0; step < steps; ++step) {
        for (int k = 0; k < options.batch; ++k) {
            const int from = uniform_index(random, options.samples);
            batch.col(k) = inputs.col(from).cast<float>();
            wanted[k] = static_cast<float>(labels[from]);
        }
        single.parameters() = network.parameters().cast<float>();
        single.forward(batch, tape, found);
        // Loss: mean of (found - wanted)^2 / 2.
        single.parameter_gradient(tape, share * (found - wanted), gradient);
        adam.step(gradient.cast<double>(), rate_at(options, step, steps), network.parameters());
        tick();
    }
}

}  // namespace

void validate(const TrainingOptions& options) {
    if (options.samples < 64 || options.steps < 1 || options.batch < 1)
        fail("training: ", options.samples, " samples, ", options.steps, " steps, batch ", options.batch,
             ", expected at least 64, 1 and 1");
    if (!(options.first_rate > 0.0 && options.last_rate > 0.0))
        fail("training: rates ", options.first_rate, " and ", options.last_rate, ", expected > 0");
}

PairNetworks train_networks(const GrainShape& shape_a, const GrainShape& shape_b, const TrainingOptions& options,
                            const std::function<void(int, int)>& progress) {
    validate(options);
    const double scale = std::max(shape_a.radius, shape_b.radius);
    const GrainShape a = scaled(shape_a, shape_a.radius / scale), b = scaled(shape_b, shape_b.radius / scale);
    Random random(options.seed);
    const Samples samples = make_samples(a, b, options, random);
    const int inputs = options.encoding == Encoding::CosSin ? 4 : 3;
    const Network empty(inputs, options.layers, options.width, options.activation);
    PairNetworks out{.distance = empty,
                     .arm = empty,
                     .encoding = options.encoding,
                     .symmetry = options.encoding == Encoding::CosSin ? b.symmetry : 1,
                     .radius_ratio = b.radius / a.radius,
                     .outlines = {outline_hash(a), outline_hash(b)}};
    const int arm_steps = std::max(1, 2 * options.steps / 5), total = options.steps + arm_steps;
    int done = 0;
    const auto tick = [&] {
        ++done;
        if (progress && done % 100 == 0) progress(done, total);
    };
    initialise(out.distance, random);
    fit(out.distance, samples.inputs, samples.distance, options, options.steps, random, tick);
    initialise(out.arm, random);
    fit(out.arm, samples.inputs, samples.arm, options, arm_steps, random, tick);
    return out;
}

}  // namespace farfield::grains
