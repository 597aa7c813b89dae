// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Small fully connected networks: value, gradient by the input, gradient by the parameters.
///
/// Paper:     [CEM2026, Sec. 6]
/// Deviation: softplus(10) and cos/sin of k theta by default; ReLU on the raw angle is kept for replication.
#include <Eigen/Dense>
#include <vector>

namespace farfield::grains {

enum class Activation { Softplus, Relu };
enum class Encoding {
    CosSin,    ///< cos k theta, sin k theta, X, Y
    RawTheta,  ///< theta in [-pi, pi), X, Y
};

/// One scalar output; all weights and biases stand in one vector, layer by layer, each W (row-major) then b.
class Network {
 public:
    /// layers hidden layers of `width` each.
    Network(int inputs, int layers, int width, Activation activation);

    [[nodiscard]] int inputs() const { return sizes_.front(); }
    [[nodiscard]] int layers() const { return static_cast<int>(sizes_.size()) - 2; }
    [[nodiscard]] int width() const { return sizes_[1]; }
    [[nodiscard]] Activation activation() const { return activation_; }
    [[nodiscard]] const Eigen::VectorXd& parameters() const { return parameters_; }
    [[nodiscard]] Eigen::VectorXd& parameters() { return parameters_; }
    /// Where W of a layer begins, and its shape (outputs, inputs); b follows it.
    [[nodiscard]] Eigen::Index offset(int layer) const { return offsets_[static_cast<std::size_t>(layer)]; }
    [[nodiscard]] int size(int layer) const { return sizes_[static_cast<std::size_t>(layer)]; }

    /// Scratch of one evaluation; reuse it to avoid allocation.
    struct Tape {
        std::vector<Eigen::MatrixXd> values, slopes;
        Eigen::MatrixXd back;
    };
    /// One output per column of `input` (inputs, count).
    void forward(const Eigen::MatrixXd& input, Tape& tape, Eigen::RowVectorXd& output) const;
    /// After forward: d output / d input, one column per sample.
    void input_gradient(Tape& tape, Eigen::MatrixXd& gradient) const;
    /// After forward: gradient of sum(seed . output) by the parameters.
    void parameter_gradient(Tape& tape, const Eigen::RowVectorXd& seed, Eigen::VectorXd& gradient) const;

 private:
    using Weights = Eigen::Map<const Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;
    [[nodiscard]] Weights weights(std::size_t layer) const {
        return {parameters_.data() + offsets_[layer], sizes_[layer + 1], sizes_[layer]};
    }

    std::vector<int> sizes_;
    std::vector<Eigen::Index> offsets_;
    Activation activation_;
    Eigen::VectorXd parameters_;
};

}  // namespace farfield::grains
