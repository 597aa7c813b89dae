// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  The stages of build_model, in the order they run.
#include <memory>
#include <string>

#include "farfield/model/model.hpp"

namespace farfield {

class ModelBuilder {
 public:
    explicit ModelBuilder(const Scene& scene);
    [[nodiscard]] std::shared_ptr<const Model> build();

 private:
    void check_numbers() const;
    void add_bodies();
    void add_joint(int body, const Joint& joint, bool prescribed);
    void add_tendons();
    void add_actuators();
    void add_constraints();
    void add_reduction();
    void set_default_state();
    void set_default_control(const ModelActuator& actuator);
    void check_keyframes() const;
    void set_parameters();
    void check_masses() const;
    void add_collision_geometry();
    void add_hulls();
    void add_contact_pairs();
    void close_loops();
    [[nodiscard]] Length length_of(const std::vector<LengthTerm>& terms, const std::string& place) const;
    void aim(const Actuator& source, const std::string& place, ModelActuator& actuator) const;
    void limit_controls(const Actuator& source, const std::string& place, const ModelActuator& actuator);
    [[nodiscard]] int body_index(const std::string& name, const std::string& place) const;
    [[nodiscard]] int joint_index(const std::string& name, const std::string& place) const;

    const Scene& scene_;
    std::shared_ptr<Model> model_;
    std::vector<Joint> joints_;  ///< scene joints by model joint index
};

}  // namespace farfield
