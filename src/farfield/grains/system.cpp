// SPDX-License-Identifier: Apache-2.0
#include "farfield/grains/system.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "farfield/base/error.hpp"
#include "farfield/grains/system_data.hpp"

namespace farfield::grains {
namespace {

std::size_t checked_index(int index, std::size_t size, const char* what) {
    if (index < 0 || static_cast<std::size_t>(index) >= size)
        fail("grains: ", what, " ", index, ", expected 0 to ", static_cast<std::ptrdiff_t>(size) - 1);
    return static_cast<std::size_t>(index);
}

void validate_motion(const Motion& motion) {
    if (!motion.velocity.allFinite() || !motion.pivot.allFinite() || !std::isfinite(motion.spin))
        fail("grains: a motion's velocity, spin or pivot is not finite");
}

/// Of a contact with the longest arm against something immovable; half of it between two such grains.
double effective_mass(const GrainShape& shape, double density) {
    return density * shape.area / (1.0 + shape.radius * shape.radius / shape.gyration2);
}

}  // namespace

System::System(std::vector<GrainShape> shapes, std::vector<std::vector<std::shared_ptr<const ContactMap>>> maps,
               const SystemOptions& options)
    : data_(std::make_unique<Data>()) {
    Data& d = *data_;
    if (shapes.empty()) fail("grains: no shapes, expected at least one");
    if (maps.size() != shapes.size()) fail("grains: maps of ", maps.size(), " shapes, expected ", shapes.size());
    for (std::size_t a = 0; a < maps.size(); ++a) {
        if (maps[a].size() != shapes.size())
            fail("grains: maps[", a, "] has ", maps[a].size(), " entries, expected ", shapes.size());
        for (const auto& map : maps[a]) d.maps.push_back(map);
    }
    validate(options.law);
    if (!options.gravity.allFinite()) fail("grains: gravity is not finite");
    if (!(options.density > 0.0)) fail("grains: density ", options.density, ", expected > 0 [kg/m^2]");
    if (!(options.skin > 0.0 && std::isfinite(options.skin)))
        fail("grains: skin ", options.skin, ", expected > 0 [radii]");
    if (!(options.smoothing >= 0.0)) fail("grains: smoothing ", options.smoothing, ", expected >= 0 [radii]");
    if (!(options.start_depth >= 0.0)) fail("grains: start_depth ", options.start_depth, ", expected >= 0 [radii]");
    if (!(options.dt >= 0.0)) fail("grains: dt ", options.dt, ", expected > 0 [s], or 0 to choose it");
    d.shapes = std::move(shapes);
    d.options = options;
    double effective = std::numeric_limits<double>::infinity();
    for (const GrainShape& shape : d.shapes) effective = std::min(effective, effective_mass(shape, options.density));
    d.dt = options.dt > 0.0 ? options.dt : default_dt(options.law, 0.5 * effective);
    const double limit = largest_stable_dt(options.law, effective);
    if (d.dt > limit)
        fail("grains: dt ", d.dt, " is unstable, expected below ", limit, " [s] for stiffness ",
             options.law.normal_stiffness, " (", default_dt(options.law, 0.5 * effective), " is recommended)");
    d.pool = std::make_unique<ThreadPool>(options.threads);
}

System::~System() = default;
System::System(System&&) noexcept = default;

int System::add_motion(const Motion& motion) {
    validate_motion(motion);
    data_->motions.push_back(motion);
    return static_cast<int>(data_->motions.size()) - 1;
}

void System::set_motion(int index, const Motion& motion) {
    validate_motion(motion);
    data_->motions[checked_index(index, data_->motions.size(), "motion")] = motion;
}

const Motion& System::motion(int index) const {
    return data_->motions[checked_index(index, data_->motions.size(), "motion")];
}

int System::add_wall(const Wall& wall) {
    validate(wall);
    if (data_->num_grains() > 0) fail("grains: add walls before grains");
    data_->walls.push_back(wall);
    return static_cast<int>(data_->walls.size()) - 1;
}

void System::set_wall(int index, const Wall& wall) {
    validate(wall);
    data_->walls[checked_index(index, data_->walls.size(), "wall")] = wall;
    data_->list_valid = false;
}

const Wall& System::wall(int index) const { return data_->walls[checked_index(index, data_->walls.size(), "wall")]; }

int System::add_grain(const Grain& grain) {
    Data& d = *data_;
    const int number = d.num_grains();
    const std::size_t shape = checked_index(grain.shape, d.shapes.size(), "shape");
    if (grain.motion != kFree) (void)checked_index(grain.motion, d.motions.size(), "motion");
    for (const double value : {grain.x, grain.y, grain.theta, grain.vx, grain.vy, grain.omega}) {
        if (!std::isfinite(value)) fail("grains: grain ", number, ": pose or velocity is not finite");
    }
    Body body;
    body.x = grain.x;
    body.y = grain.y;
    body.set_angle(grain.theta);
    body.vx = grain.vx;
    body.vy = grain.vy;
    body.omega = grain.omega;
    d.bodies.push_back(body);
    d.id.push_back(number);
    d.slot.push_back(number);
    d.shape.push_back(grain.shape);
    d.driver.push_back(kFree);
    d.radius.push_back(d.shapes[shape].radius);
    d.inverse_mass.push_back(0.0);
    d.inverse_inertia.push_back(0.0);
    d.held.push_back(0);
    d.reactions.push_back({});
    d.wall_springs.resize(d.wall_springs.size() + d.walls.size());
    // Slots may be in another order by now: the new one is the last of both.
    d.slot.back() = static_cast<std::int32_t>(d.bodies.size()) - 1;
    set_driver(number, grain.motion);
    d.checked = false;
    return number;
}

void System::set_driver(int grain, int motion) {
    Data& d = *data_;
    const auto s = static_cast<std::size_t>(d.slot[checked_index(grain, d.slot.size(), "grain")]);
    if (motion != kFree && motion != kRemoved) (void)checked_index(motion, d.motions.size(), "motion");
    const GrainShape& shape = d.shapes[static_cast<std::size_t>(d.shape[s])];
    const double mass = d.options.density * shape.area;
    d.driver[s] = motion;
    d.held[s] = motion == kFree ? 0 : motion == kRemoved ? 2 : 1;
    if (motion == kRemoved) d.bodies[s].vx = d.bodies[s].vy = d.bodies[s].omega = 0.0;
    d.inverse_mass[s] = motion == kFree ? 1.0 / mass : 0.0;
    d.inverse_inertia[s] = motion == kFree ? 1.0 / (mass * shape.gyration2) : 0.0;
    d.list_valid = false;
    d.maps_checked = false;
}

void System::set_friction(double friction) {
    ContactLaw law = data_->options.law;
    law.friction = friction;
    validate(law);
    data_->options.law = law;
}

void System::Data::check_maps() {
    std::vector<char> used(shapes.size(), 0), moves(shapes.size(), 0);  // moves: some grain of this shape is free
    for (std::size_t s = 0; s < shape.size(); ++s) {
        used[static_cast<std::size_t>(shape[s])] = 1;
        if (!held[s]) moves[static_cast<std::size_t>(shape[s])] = 1;
    }
    for (std::size_t a = 0; a < used.size(); ++a) {
        for (std::size_t b = a; b < used.size(); ++b) {
            if (used[a] && used[b] && (moves[a] || moves[b]) && maps[a * used.size() + b] == nullptr)
                fail("grains: no contact map for shapes '", shapes[a].name, "' and '", shapes[b].name,
                     "'; make it with farfield grains train");
        }
    }
    maps_checked = true;
}

void System::check_start() {
    Data& d = *data_;
    d.check_maps();
    d.ensure_list();
    double deepest = -d.options.start_depth * d.largest_radius();
    int first = -1, second = -1;
    for (const std::array<double, 3>& contact : touching()) {
        if (contact[2] >= deepest) continue;
        deepest = contact[2];
        first = static_cast<int>(contact[0]);
        second = static_cast<int>(contact[1]);
    }
    if (first >= 0)
        fail("grains: grains ", first, " ('", d.shapes[static_cast<std::size_t>(shape_of(first))].name, "') and ",
             second, " ('", d.shapes[static_cast<std::size_t>(shape_of(second))].name, "') overlap by ", -deepest,
             " [m] at the start, expected at most ", d.options.start_depth * d.largest_radius());
    d.checked = true;
}

RunStatus System::run(int steps) {
    if (steps < 0) fail("grains: steps ", steps, ", expected >= 0");
    if (!data_->checked) check_start();
    if (!data_->maps_checked) data_->check_maps();
    return data_->run(steps);
}

int System::num_grains() const { return data_->num_grains(); }
double System::dt() const { return data_->dt; }
double System::time() const { return static_cast<double>(data_->steps) * data_->dt; }
const std::vector<GrainShape>& System::shapes() const { return data_->shapes; }
const SystemOptions& System::options() const { return data_->options; }
Counters System::counters() const { return data_->counters; }

int System::shape_of(int grain) const {
    return data_->shape[static_cast<std::size_t>(data_->slot[checked_index(grain, data_->slot.size(), "grain")])];
}

int System::driver_of(int grain) const {
    return data_->driver[static_cast<std::size_t>(data_->slot[checked_index(grain, data_->slot.size(), "grain")])];
}

}  // namespace farfield::grains
