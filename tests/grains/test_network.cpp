// SPDX-License-Identifier: Apache-2.0
#include <doctest/doctest.h>

#include <cmath>

#include "farfield/base/random.hpp"
#include "farfield/grains/map_audit.hpp"
#include "farfield/grains/network_map.hpp"
#include "farfield/optim/adam.hpp"
#include "support/error_text.hpp"

using namespace farfield;
using namespace farfield::grains;
using farfield::testing::contains;
using farfield::testing::error_of;

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
        const auto networks = std::make_shared<const PairNetworks>(
            train_networks(block, block, options, [&](int done, int) { told = done; }));
        CHECK(told == 2100);
        const auto map = make_network_map(networks, block, block);
        Random random(2);
        const MapAudit audit = audit_map(*map, block, block, 2000, random);
        MESSAGE("2x16, 1500 steps: rmse " << audit.rmse << " R, normal " << audit.normal_median << " degrees");
        CHECK(audit.rmse < 0.05);
        CHECK(audit.wrap_jump < 1e-7);  // two angles 2e-9 apart
        const MapValue value = map->at({0.3, 1.0, 0.4});
        const double h = 1e-6;
        const double turn = (map->at({0.3 + h, 1.0, 0.4}).distance - map->at({0.3 - h, 1.0, 0.4}).distance) / (2.0 * h);
        CHECK(value.g_theta == doctest::Approx(turn).epsilon(1e-6));
        CHECK(contains(error_of([&] { (void)make_network_map(networks, block, l); }), "trained for other outlines"));
        PairNetworks broken = *networks;
        broken.distance.parameters()[3] = std::nan("");
        CHECK(contains(
            error_of([&] { (void)make_network_map(std::make_shared<const PairNetworks>(broken), block, block); }),
            "not finite"));
        CHECK(contains(error_of([&] { (void)train_networks(block, block, {.steps = 0}); }), "0 steps"));
        CHECK(contains(error_of([&] { require(audit, {}, "block block"); }),
                       "raise the table's space and theta (or the"));
        // The published variant: a raw angle jumps where it wraps.
        const auto raw = std::make_shared<const PairNetworks>(train_networks(block, block,
                                                                             {.layers = 2,
                                                                              .width = 16,
                                                                              .activation = Activation::Relu,
                                                                              .encoding = Encoding::RawTheta,
                                                                              .samples = 4000,
                                                                              .steps = 1500,
                                                                              .batch = 64}));
        CHECK(raw->distance.inputs() == 3);
        const MapAudit raw_audit = audit_map(*make_network_map(raw, block, block), block, block, 2000, random);
        MESSAGE("raw angle: rmse " << raw_audit.rmse << " R, jump " << raw_audit.wrap_jump << " R");
        CHECK(raw_audit.rmse < 0.1);
        CHECK(raw_audit.wrap_jump > 1e-3);
    }
}
