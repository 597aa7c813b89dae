// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Contact between point clouds by soft minima: explicit, smooth, and without any certificate.
///
/// Paper:     [SCM2025]; formulas and deviations in field_lanes.hpp
/// Bodies push each other before they touch, with exponential tails, and may penetrate: nothing here keeps them apart. One stiffness k per
/// pair, whatever the number of points: places in contact share the load.
#include <Eigen/Dense>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "farfield/contact/force_law.hpp"
#include "farfield/contact/softmin/field_lanes.hpp"
#include "farfield/contact/softmin/options.hpp"
#include "farfield/contact/softmin/shape.hpp"

namespace farfield::contact::softmin {

/// Queries of one body of a pair against a surface of the other.
struct Side {
    bool first_asks = true;  ///< the queries are those of the pair's first body
    const QuerySet* queries = nullptr;
    const Surface* surface = nullptr;
};

struct SoftPair {
    ContactPair bodies;
    std::vector<Side> sides;
    double stiffness = 0.0;            ///< k at Parameters::contact_stiffness 1 [N/m]
    double sharing = 0.0, ramp = 0.0;  ///< eps2, eps3 [m]
    double cut = 0.0;                  ///< queries beyond the least phi plus this are left out [m]
};

class Softmin final : public ForceLaw {
 public:
    Softmin(const Model& model, const SoftminOptions& options);

    [[nodiscard]] std::unique_ptr<ContactMemory> make_memory(ThreadPool* pool = nullptr) const override;
    ForceStep& begin_step(const Parameters& parameters, ContactMemory& memory) const override;
    /// "separation_temperature" and "force_temperature" (of all pairs together), then per body with a cloud "temperature[body]" and
    /// "points[body:k].x", in the order given.
    [[nodiscard]] std::vector<std::string> number_names() const override;
    [[nodiscard]] std::vector<PairStiffness> pair_stiffness(const Parameters& parameters) const override;

    [[nodiscard]] const std::vector<SoftPair>& pairs() const { return pairs_; }
    [[nodiscard]] const std::vector<BodyShape>& shapes() const { return shapes_; }
    /// Where the numbers of a body's cloud begin; -1 without a cloud.
    [[nodiscard]] int first_number(int body) const { return first_number_[static_cast<std::size_t>(body)]; }
    [[nodiscard]] const SoftminOptions& options() const { return options_; }
    [[nodiscard]] const std::string& name(int body) const { return names_[static_cast<std::size_t>(body)]; }

 private:
    SoftminOptions options_;
    std::vector<std::string> names_;
    std::vector<BodyShape> shapes_;
    std::vector<SoftPair> pairs_;
    std::vector<int> first_number_;
    decltype(Parameters::hull_vertices) hull_vertices_;  ///< of the model: clouds do not follow others
};

}  // namespace farfield::contact::softmin
