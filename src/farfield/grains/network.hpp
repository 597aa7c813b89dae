// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Small fully connected networks: value, gradient by the input, gradient by the parameters.
///
/// Paper:     [CEM2026, Sec. 6]
/// Deviation: softplus(10) and cos/sin of k theta by default; ReLU on the raw angle is kept for replication.
#include <Eigen/Dense>
#include <vector>

namespace farfield::grains {

enum class Activation {
    Softplus,  ///< log(1 + exp(beta x)) / beta
    Relu,
};
inline constexpr double kSoftplusBeta = 10.0;
enum class Encoding {
    CosSin,    ///< cos k theta, sin k theta, X, Y
    RawTheta,  ///< theta in [-pi, pi), X, Y
};

/// One scalar output; all weights and biases stand in one vector, layer by layer, each W (row-major) then b.
/// Real is float or double.
template <class Real>
class BasicNetwork {
 public:
    using Matrix = Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic>;
    using Vector = Eigen::Matrix<Real, Eigen::Dynamic, 1>;
    using RowVector = Eigen::Matrix<Real, 1, Eigen::Dynamic>;

    /// layers hidden layers of `width` each.
    BasicNetwork(int inputs, int layers, int width, Activation activation);

    [[nodiscard]] int inputs() const { return sizes_.front(); }
    [[nodiscard]] int layers() const { return static_cast<int>(sizes_.size()) - 2; }
    [[nodiscard]] int width() const { return sizes_[1]; }
    [[nodiscard]] Activation activation() const { return activation_; }
    [[nodiscard]] const Vector& parameters() const { return parameters_; }
    [[nodiscard]] Vector& parameters() { return parameters_; }
    /// Where W of a layer begins, and its shape (outputs, inputs); b follows it.
    [[nodiscard]] Eigen::Index offset(int layer) const { return offsets_[static_cast<std::size_t>(layer)]; }
    [[nodiscard]] int size(int layer) const { return sizes_[static_cast<std::size_t>(layer)]; }

    /// Scratch of one evaluation; reuse it to avoid allocation.
    struct Tape {
        std::vector<Matrix> values, slopes;
        Matrix back;
    };
    /// One output per column of `input` (inputs, count).
    void forward(const Matrix& input, Tape& tape, RowVector& output) const;
    /// After forward: d output / d input, one column per sample.
    void input_gradient(Tape& tape, Matrix& gradient) const;
    /// After forward: gradient of sum(seed . output) by the parameters.
    void parameter_gradient(Tape& tape, const RowVector& seed, Vector& gradient) const;

 private:
    using Weights = Eigen::Map<const Eigen::Matrix<Real, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
    [[nodiscard]] Weights weights(std::size_t layer) const {
        return {parameters_.data() + offsets_[layer], sizes_[layer + 1], sizes_[layer]};
    }

    std::vector<int> sizes_;
    std::vector<Eigen::Index> offsets_;
    Activation activation_;
    Vector parameters_;
};

using Network = BasicNetwork<double>;
extern template class BasicNetwork<double>;
extern template class BasicNetwork<float>;

}  // namespace farfield::grains
