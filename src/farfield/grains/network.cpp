// SPDX-License-Identifier: Apache-2.0
#include "farfield/grains/network.hpp"

#include "farfield/base/error.hpp"

namespace farfield::grains {
namespace {

template <class Matrix>
void activate(Activation activation, Matrix& values, Matrix& slopes) {
    using Real = typename Matrix::Scalar;
    const auto x = values.array();
    if (activation == Activation::Relu) {
        slopes = (x > Real(0)).template cast<Real>();
        values = x.max(Real(0));
        return;
    }
    // With e = exp(-beta |x|) in (0, 1] nothing overflows: slope = 1/(1 + e) right of zero and 1 - 1/(1 + e) left of it.
    const Eigen::Array<Real, Eigen::Dynamic, Eigen::Dynamic> one_more =
        (Real(-kSoftplusBeta) * x.abs()).exp() + Real(1);
    slopes = (x >= Real(0)).select(one_more.inverse(), Real(1) - one_more.inverse());
    values = x.max(Real(0)) + one_more.log() / Real(kSoftplusBeta);
}

}  // namespace

template <class Real>
BasicNetwork<Real>::BasicNetwork(int inputs, int layers, int width, Activation activation) : activation_(activation) {
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

template <class Real>
void BasicNetwork<Real>::forward(const Matrix& input, Tape& tape, RowVector& output) const {
    const std::size_t count = offsets_.size();
    tape.values.resize(count + 1);
    tape.slopes.resize(count);
    tape.values[0] = input;
    for (std::size_t k = 0; k < count; ++k) {
        const Eigen::Map<const Vector> bias(parameters_.data() + offsets_[k] + sizes_[k + 1] * sizes_[k],
                                            sizes_[k + 1]);
        tape.values[k + 1].noalias() = weights(k) * tape.values[k];
        tape.values[k + 1].colwise() += bias;
        if (k + 1 < count) activate(activation_, tape.values[k + 1], tape.slopes[k]);
    }
    output = tape.values[count].row(0);
}

template <class Real>
void BasicNetwork<Real>::input_gradient(Tape& tape, Matrix& gradient) const {
    const std::size_t count = offsets_.size();
    tape.back = weights(count - 1).transpose().replicate(1, tape.values[0].cols());
    for (std::size_t k = count - 1; k-- > 0;) {
        tape.back.array() *= tape.slopes[k].array();
        tape.back = (weights(k).transpose() * tape.back).eval();
    }
    gradient = tape.back;
}

template <class Real>
void BasicNetwork<Real>::parameter_gradient(Tape& tape, const RowVector& seed, Vector& gradient) const {
    const std::size_t count = offsets_.size();
    gradient.resize(parameters_.size());
    tape.back = seed;
    for (std::size_t k = count; k-- > 0;) {
        Eigen::Map<Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>> by_weights(
            gradient.data() + offsets_[k], sizes_[k + 1], sizes_[k]);
        by_weights.noalias() = tape.back * tape.values[k].transpose();
        Eigen::Map<Vector>(gradient.data() + offsets_[k] + sizes_[k + 1] * sizes_[k], sizes_[k + 1]) =
            tape.back.rowwise().sum();
        if (k == 0) break;
        tape.back = (weights(k).transpose() * tape.back).eval();
        tape.back.array() *= tape.slopes[k - 1].array();
    }
}

template class BasicNetwork<double>;
template class BasicNetwork<float>;

}  // namespace farfield::grains
