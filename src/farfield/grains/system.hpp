// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  Many grains in motion: semi-implicit Euler with configuration-space contact.
///
/// Paper:     [CEM2026, Sec. 7]
/// The bits of a run depend neither on the number of threads nor on when neighbour lists are rebuilt: forces on a grain
/// are summed in the order of the other grains' numbers, and pairs that do not touch add nothing. So a run resumed from a
/// checkpoint continues exactly.
#include <Eigen/Dense>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "farfield/base/thread_pool.hpp"
#include "farfield/grains/body.hpp"
#include "farfield/grains/contact_law.hpp"
#include "farfield/grains/contact_map.hpp"
#include "farfield/grains/neighbours.hpp"
#include "farfield/grains/wall.hpp"

namespace farfield::grains {

struct SystemOptions {
    Eigen::Vector2d gravity{0.0, -9.81};  ///< [m/s^2]
    ContactLaw law;
    double dt = 0.0;            ///< [s]; 0: chosen from the stiffness
    double density = 1.0;       ///< [kg/m^2]
    double skin = 0.15;         ///< of the neighbour list, in the largest circumradius
    double smoothing = 1e-3;    ///< of corners on walls, in the grain's circumradius
    double start_depth = 0.02;  ///< largest overlap accepted at the start, in the largest circumradius
    int threads = 1;
};

/// A prescribed motion of grains that are not free: a turn about a pivot that moves along.
struct Motion {
    Eigen::Vector2d velocity = Eigen::Vector2d::Zero();  ///< of the pivot [m/s]
    double spin = 0.0;                                   ///< [rad/s]
    Eigen::Vector2d pivot = Eigen::Vector2d::Zero();     ///< now [m]
};

inline constexpr int kFree = -1, kRemoved = -2;

struct Grain {
    int shape = 0;
    double x = 0.0, y = 0.0, theta = 0.0;
    double vx = 0.0, vy = 0.0, omega = 0.0;
    int motion = kFree;  ///< kFree, or which Motion drives it
};

enum class RunStatus { Done, NonFinite };

/// Everything a run needs to go on exactly, by grain number.
struct SystemState {
    using Rows3 = Eigen::Matrix<double, Eigen::Dynamic, 3, Eigen::RowMajor>;
    std::int64_t steps = 0;
    Rows3 poses, velocities;                                                   ///< x, y, theta and their rates
    Eigen::Matrix<std::int32_t, Eigen::Dynamic, 2, Eigen::RowMajor> contacts;  ///< grain numbers, lower first
    Rows3 springs;                                                             ///< stretch and normal of each contact
    Rows3 wall_springs;                                                        ///< grain by grain, wall by wall
    Rows3 walls;                                                               ///< centre and offset of each wall
    Eigen::Matrix<double, Eigen::Dynamic, 2, Eigen::RowMajor> pivots;
};

struct Audit {
    double kinetic = 0.0, gravitational = 0.0, elastic = 0.0;  ///< free grains, at one time; springs of contacts [J]
    double momentum_x = 0.0, momentum_y = 0.0;                 ///< of free grains [N s]
    double angular_momentum = 0.0;                             ///< about the origin [N m s]
    double deepest = 0.0;                                      ///< largest penetration [m]
    int contacts = 0;                                          ///< between grains
    int wall_contacts = 0;
};

struct Counters {
    std::int64_t list_builds = 0, list_pairs = 0;  ///< pairs in the present list
    std::int64_t clamped = 0;                      ///< contacts so deep that the map had no direction
};

class System {
 public:
    /// `maps[a][b]` for a <= b is the map of shapes a and b (A and B); others may be null.
    System(std::vector<GrainShape> shapes, std::vector<std::vector<std::shared_ptr<const ContactMap>>> maps,
           const SystemOptions& options);
    ~System();
    System(System&&) noexcept;

    int add_motion(const Motion& motion);
    void set_motion(int index, const Motion& motion);
    [[nodiscard]] const Motion& motion(int index) const;
    int add_wall(const Wall& wall);
    void set_wall(int index, const Wall& wall);
    [[nodiscard]] const Wall& wall(int index) const;
    int add_grain(const Grain& grain);
    /// Sets a grain free, hands it to a motion, or takes it out (kRemoved): it stays where it is, at rest, and touches nothing.
    void set_driver(int grain, int motion);
    void set_friction(double friction);

    /// Checks the start: finite, time step stable, no pair deeper than start_depth. Called by the first run().
    void check_start();
    /// Takes steps; stops early when a coordinate is not finite.
    RunStatus run(int steps);

    [[nodiscard]] SystemState state() const;
    void set_state(const SystemState& state);
    [[nodiscard]] Audit audit();
    [[nodiscard]] Counters counters() const;
    /// Pairs of touching grains, by number, with their distance [m].
    [[nodiscard]] std::vector<std::array<double, 3>> touching();
    /// Force and torque about the pivot that grains exert on those driven by this motion, in the last step.
    [[nodiscard]] Wrench reaction(int motion) const;

    [[nodiscard]] int num_grains() const;
    [[nodiscard]] double dt() const;
    [[nodiscard]] double time() const;
    [[nodiscard]] const std::vector<GrainShape>& shapes() const;
    [[nodiscard]] int shape_of(int grain) const;
    [[nodiscard]] int driver_of(int grain) const;
    [[nodiscard]] const SystemOptions& options() const;

 private:
    struct Data;
    std::unique_ptr<Data> data_;
};

}  // namespace farfield::grains
