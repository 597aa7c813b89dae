// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <array>
#include <cmath>

#include "farfield/base/random.hpp"
#include "farfield/grains/map_audit.hpp"
#include "farfield/grains/network_lanes.hpp"
#include "farfield/grains/network_map.hpp"
#include "farfield/optim/adam.hpp"
#include "support/error_text.hpp"
#include "support/simd_targets.hpp"

using namespace farfield;
using namespace farfield::grains;
using farfield::testing::contains;
using farfield::testing::error_of;
using farfield::testing::on_every_target;

TEST_SUITE("grains") {
    TEST_CASE("grains network: gradients by input and parameters match differences") {
        Random random(6);
        for (const Activation activation : {Activation::Softplus, Activation::Relu}) {
            Network network(4, 3, 7, activation);
            network.parameters() = 0.4 * normal_vector(random, network.parameters().size());
            Eigen::MatrixXd input(4, 5), gradient;
            for (double& v : input.reshaped()) v = normal(random);
            const Eigen::RowVectorXd seed = normal_vector(random, 5).transpose();
            Network::Tape tape;
            Eigen::RowVectorXd output;
            const auto value = [&](const Network& n, const Eigen::MatrixXd& x) {
                n.forward(x, tape, output);
                return output.dot(seed);
            };
            const double h = 1e-6;
            network.forward(input, tape, output);
            network.input_gradient(tape, gradient);
            for (Eigen::Index k = 0; k < input.size(); ++k) {
                Eigen::MatrixXd more = input, less = input;
                more.data()[k] += h;
                less.data()[k] -= h;
                const double slope = (value(network, more) - value(network, less)) / (2.0 * h);
                CHECK(gradient.data()[k] * seed[k / 4] == doctest::Approx(slope).epsilon(1e-6));
            }
            Eigen::VectorXd by_parameters;
            network.forward(input, tape, output);
            network.parameter_gradient(tape, seed, by_parameters);
            CHECK(by_parameters.norm() > 0.1);
            for (Eigen::Index k = 0; k < by_parameters.size(); k += 3) {
                Network more = network, less = network;
                more.parameters()[k] += h;
                less.parameters()[k] -= h;
                const double slope = (value(more, input) - value(less, input)) / (2.0 * h);
                CHECK(by_parameters[k] == doctest::Approx(slope).epsilon(1e-5));
            }
        }
    }

    TEST_CASE("grains network lanes: values and gradients are those of the network, on every SIMD target") {
        Random random(8);
        on_every_target([&] {
            for (const Activation activation : {Activation::Softplus, Activation::Relu}) {
                for (const auto& [inputs, layers, width] :
                     {std::array{4, 5, 64}, std::array{4, 3, 32}, std::array{3, 2, 7}, std::array{3, 1, 1}}) {
                    CAPTURE(width);
                    Network network(inputs, layers, width, activation);
                    network.parameters() = normal_vector(random, network.parameters().size()) / std::sqrt(width);
                    const PackedNetwork packed(network);
                    Eigen::Matrix<float, 4, kNetworkBatch, Eigen::RowMajor> input, gradient;
                    input.setZero();
                    for (float& v : input.topRows(inputs).reshaped()) v = static_cast<float>(normal(random));
                    std::array<float, kNetworkBatch> output{};
                    NetworkScratch scratch;
                    evaluate_network(packed, input.data(), scratch, output.data());
                    network_gradient(packed, scratch, gradient.data());
                    Network::Tape tape;
                    Eigen::RowVectorXd wanted;
                    Eigen::MatrixXd slopes;
                    network.forward(input.topRows(inputs).cast<double>(), tape, wanted);
                    network.input_gradient(tape, slopes);
                    const double size = 1.0 + wanted.cwiseAbs().maxCoeff(), steep = 1.0 + slopes.cwiseAbs().maxCoeff();
                    for (Eigen::Index k = 0; k < wanted.size(); ++k) {
                        CHECK(std::abs(output[static_cast<std::size_t>(k)] - wanted[k]) < 2e-5 * size);
                        CHECK((gradient.col(k).head(inputs).cast<double>() - slopes.col(k)).norm() < 1e-4 * steep);
                    }
                }
            }
        });
    }

    TEST_CASE("grains adam: finds the minimum of a badly scaled quadratic") {
        const Eigen::Vector3d target(1.0, -2.0, 0.5), scale(1.0, 100.0, 0.01);
        Eigen::VectorXd x = Eigen::VectorXd::Zero(3);
        Adam adam(3);
        for (int k = 0; k < 4000; ++k) adam.step(scale.cwiseProduct(x - target), 0.02 * std::exp(-k / 600.0), x);
        CHECK((x - target).norm() < 1e-2);
    }

    TEST_CASE("grains network: a short training learns the contact of two blocks, and refuses other shapes") {
        const GrainShape block = library_shape("block"), l = library_shape("L");
        const TrainingOptions options{.layers = 2, .width = 16, .samples = 4000, .steps = 1500, .batch = 64};
        int told = 0;
        const PairNetworks networks = train_networks(block, block, options, [&](int done, int) { told = done; });
        CHECK(told == 2100);
        const auto map = make_network_map(networks, block, block);
        Random random(2);
        const MapAudit audit = audit_map(*map, block, block, 2000, random);
        MESSAGE("2x16, 1500 steps: rmse " << audit.rmse << " R, normal " << audit.normal_median << " degrees");
        CHECK(audit.rmse < 0.05);
        CHECK(audit.wrap_jump < 1e-6);  // two angles 2e-9 apart, in single precision
        const MapValue value = map->at({0.3, 1.0, 0.4});
        CHECK(value.distance < 0.0);
        const auto slope = [&](double turn, double x, double y) {
            const double h = 1e-3;  // lookups are in single precision
            return (map->at({0.3 + h * turn, 1.0 + h * x, 0.4 + h * y}).distance -
                    map->at({0.3 - h * turn, 1.0 - h * x, 0.4 - h * y}).distance) /
                   (2.0 * h);
        };
        CHECK(value.g_theta == doctest::Approx(slope(1.0, 0.0, 0.0)).epsilon(2e-3));
        CHECK(value.g_x == doctest::Approx(slope(0.0, 1.0, 0.0)).epsilon(2e-3));
        CHECK(value.g_y == doctest::Approx(slope(0.0, 0.0, 1.0)).epsilon(2e-3));
        CHECK(contains(error_of([&] { (void)make_network_map(networks, block, l); }), "trained for other outlines"));
        PairNetworks broken = networks;
        broken.distance.parameters()[3] = std::nan("");
        CHECK(contains(error_of([&] { (void)make_network_map(broken, block, block); }), "not finite"));
        CHECK(contains(error_of([&] { (void)train_networks(block, block, {.steps = 0}); }), "0 steps"));
        CHECK(contains(error_of([&] { require(audit, {}, "block block"); }),
                       "raise the table's space and theta (or the"));
        // The published variant: a raw angle jumps where it wraps.
        const PairNetworks raw = train_networks(block, block,
                                                {.layers = 2,
                                                 .width = 16,
                                                 .activation = Activation::Relu,
                                                 .encoding = Encoding::RawTheta,
                                                 .samples = 4000,
                                                 .steps = 1500,
                                                 .batch = 64});
        CHECK(raw.distance.inputs() == 3);
        const MapAudit raw_audit = audit_map(*make_network_map(raw, block, block), block, block, 2000, random);
        MESSAGE("raw angle: rmse " << raw_audit.rmse << " R, jump " << raw_audit.wrap_jump << " R");
        CHECK(raw_audit.rmse < 0.1);
        CHECK(raw_audit.wrap_jump > 1e-3);
    }
}
