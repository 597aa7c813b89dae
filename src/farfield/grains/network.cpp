// SPDX-License-Identifier: Apache-2.0
#include "farfield/grains/network.hpp"

#include "farfield/base/error.hpp"

namespace farfield::grains {
namespace {

constexpr double kBeta = 10.0;  // of softplus: log(1 + exp(beta x)) / beta

void activate(Activation activation, Eigen::MatrixXd& values, Eigen::MatrixXd& slopes) {
    const auto x = values.array();
    if (activation == Activation::Relu) {
        slopes = (x > 0.0).cast<double>();
        values = x.max(0.0);
        return;
    }
    // With e = exp(-beta |x|) in (0, 1] nothing overflows: slope = 1/(1 + e) right of zero and 1 - 1/(1 + e) left of it.
    const Eigen::ArrayXXd one_more = (-kBeta * x.abs()).exp() + 1.0;
    slopes = (x >= 0.0).select(one_more.inverse(), 1.0 - one_more.inverse());
    values = x.max(0.0) + one_more.log() / kBeta;
}

}  // namespace

Network::Network(int inputs, int layers, int width, Activation activation) : activation_(activation) {
    if (inputs < 1 || layers < 1 || layers > 16 || width < 1 || width > 1024)
        fail("network: ", layers, " layers of ", width, ", expected 1 to 16 layers of 1 to 1024");
    sizes_.push_back(inputs);
    for (int k = 0; k < layers; ++k) sizes_.push_back(width);
    sizes_.push_back(1);
    Eigen::Index total = 0;
    for (std::size_t k = 0; k + 1 < sizes_.size(); ++k) {
        offsets_.push_back(total);
        total += static_cast<Eigen::Index>(sizes_[k + 1]) * (sizes_[k] + 1);
    }
    parameters_.setZero(total);
}

void Network::forward(const Eigen::MatrixXd& input, Tape& tape, Eigen::RowVectorXd& output) const {
    const std::size_t count = offsets_.size();
    tape.values.resize(count + 1);
    tape.slopes.resize(count);
    tape.values[0] = input;
    for (std::size_t k = 0; k < count; ++k) {
        const Eigen::Map<const Eigen::VectorXd> bias(parameters_.data() + offsets_[k] + sizes_[k + 1] * sizes_[k],
                                                     sizes_[k + 1]);
        tape.values[k + 1].noalias() = weights(k) * tape.values[k];
        tape.values[k + 1].colwise() += bias;
        if (k + 1 < count) activate(activation_, tape.values[k + 1], tape.slopes[k]);
    }
    output = tape.values[count].row(0);
}

void Network::input_gradient(Tape& tape, Eigen::MatrixXd& gradient) const {
    const std::size_t count = offsets_.size();
    tape.back = weights(count - 1).transpose().replicate(1, tape.values[0].cols());
    for (std::size_t k = count - 1; k-- > 0;) {
        tape.back.array() *= tape.slopes[k].array();
        tape.back = (weights(k).transpose() * tape.back).eval();
    }
    gradient = tape.back;
}

void Network::parameter_gradient(Tape& tape, const Eigen::RowVectorXd& seed, Eigen::VectorXd& gradient) const {
    const std::size_t count = offsets_.size();
    gradient.resize(parameters_.size());
    tape.back = seed;
    for (std::size_t k = count; k-- > 0;) {
        Eigen::Map<Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> by_weights(
            gradient.data() + offsets_[k], sizes_[k + 1], sizes_[k]);
        by_weights.noalias() = tape.back * tape.values[k].transpose();
        Eigen::Map<Eigen::VectorXd>(gradient.data() + offsets_[k] + sizes_[k + 1] * sizes_[k], sizes_[k + 1]) =
            tape.back.rowwise().sum();
        if (k == 0) break;
        tape.back = (weights(k).transpose() * tape.back).eval();
        tape.back.array() *= tape.slopes[k - 1].array();
    }
}

}  // namespace farfield::grains
