// SPDX-License-Identifier: Apache-2.0
/// @file  Two-dimensional grains in Python: shapes, contact maps, the system.
#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "bindings.hpp"
#include "farfield/base/error.hpp"
#include "farfield/grains/system.hpp"
#include "farfield/io/map_file.hpp"

namespace farfield::python {

namespace nb = nanobind;
using namespace nb::literals;
using namespace farfield::grains;

namespace {

using Pair = std::array<double, 2>;
using Points = Eigen::Matrix<double, Eigen::Dynamic, 2, Eigen::RowMajor>;
using Rows3 = SystemState::Rows3;
using Rows5 = Eigen::Matrix<double, Eigen::Dynamic, 5, Eigen::RowMajor>;

Eigen::Vector2d vector(const Pair& pair) { return {pair[0], pair[1]}; }

template <WallKind kind>
Wall circle(const Pair& centre, double radius, double friction, double spin) {
    Wall wall{.kind = kind, .centre = vector(centre), .radius = radius, .spin = spin, .friction = friction};
    validate(wall);
    return wall;
}

Polygon polygon_of(const std::vector<Points>& rings) {
    Polygon out;
    for (const Points& points : rings) {
        Ring& ring = out.rings.emplace_back();
        for (Eigen::Index i = 0; i < points.rows(); ++i) ring.emplace_back(points.row(i).transpose());
    }
    return out;
}

Points points_of(const Ring& ring) {
    Points out(static_cast<Eigen::Index>(ring.size()), 2);
    for (std::size_t i = 0; i < ring.size(); ++i) out.row(static_cast<Eigen::Index>(i)) = ring[i].transpose();
    return out;
}

void bind_shapes(nb::module_& m) {
    nb::class_<GrainShape>(m, "GrainShape", "Outline of a grain about its centroid.")
        .def(
            "__init__",
            [](GrainShape* self, const std::string& name, const std::vector<Points>& rings) {
                new (self) GrainShape(make_shape(name, polygon_of(rings)));
            },
            "name"_a, "rings"_a,
            "From an outer ring (counter-clockwise) and holes (clockwise), each of shape (n, 2) [m].")
        .def_static("library", &library_shape, "name"_a, "radius"_a = 1.0, "A library shape of this circumradius [m].")
        .def_static("block", &block_shape, "width"_a, "height"_a, "A rectangle [m].")
        .def_static("library_names", &library_names)
        .def("scaled", &scaled, "radius"_a, "The same outline with another circumradius [m].")
        .def_ro("name", &GrainShape::name)
        .def_ro("area", &GrainShape::area, "[m^2]")
        .def_ro("gyration2", &GrainShape::gyration2, "Inertia per mass [m^2].")
        .def_ro("radius", &GrainShape::radius, "Circumradius about the centroid [m].")
        .def_ro("symmetry", &GrainShape::symmetry, "Turns by 2 pi / symmetry map the outline onto itself.")
        .def_prop_ro(
            "rings",
            [](const GrainShape& shape) {
                std::vector<Points> out;
                for (const Ring& ring : shape.outline.rings) out.push_back(points_of(ring));
                return out;
            },
            "Outer ring and holes, each of shape (n, 2) [m].")
        .def_prop_ro(
            "hull", [](const GrainShape& shape) { return points_of(shape.hull); },
            "Corners of the convex hull, shape (n, 2), counter-clockwise [m].")
        .def_prop_ro(
            "hash", [](const GrainShape& shape) { return outline_hash(shape); },
            "Depends on the outline, not on its size.");
}

void bind_maps(nb::module_& m) {
    nb::class_<ContactMap>(m, "GrainMap", "Signed distance of two grains by their relative pose.")
        .def_prop_ro("description", &ContactMap::description)
        .def(
            "evaluate",
            [](const ContactMap& map, const Rows3& poses) {
                std::vector<Relative> in(static_cast<std::size_t>(poses.rows()));
                for (Eigen::Index i = 0; i < poses.rows(); ++i)
                    in[static_cast<std::size_t>(i)] = {poses(i, 0), poses(i, 1), poses(i, 2)};
                std::vector<MapValue> values(in.size());
                map.evaluate(in, values.data());
                Rows5 out(poses.rows(), 5);
                for (Eigen::Index i = 0; i < poses.rows(); ++i) {
                    const MapValue& v = values[static_cast<std::size_t>(i)];
                    out.row(i) << v.distance, v.g_theta, v.g_x, v.g_y, v.arm;
                }
                return out;
            },
            "poses"_a,
            "Rows (theta, x, y) of B in A's frame to rows (d, dd/dtheta, dd/dx, dd/dy, arm). Where d > 0 only its sign "
            "is promised.");
    m.def(
        "grain_exact_map", [](const GrainShape& a, const GrainShape& b) { return make_exact_map(a, b); }, "a"_a, "b"_a,
        "Exact polygon distance and penetration depth.");
    nb::class_<grains::Table>(m, "GrainTable", "Tabulated contact map, in units of the larger circumradius.")
        .def_ro("num_theta", &grains::Table::num_theta)
        .def_ro("num_space", &grains::Table::num_space)
        .def_prop_ro("num_bytes",
                     [](const grains::Table& t) { return sizeof(float) * (t.distance.size() + t.arm.size()); });
    m.def(
        "grain_table",
        [](const GrainShape& a, const GrainShape& b, int theta, int space, bool paper_labels, int threads,
           const std::function<void(int, int)>& progress) {
            ThreadPool pool(threads);
            const TableOptions options{
                .theta = theta, .space = space, .labels = paper_labels ? LabelMode::PaperGrid : LabelMode::Exact};
            return std::make_shared<grains::Table>(build_table(a, b, options, pool, progress));
        },
        "a"_a, "b"_a, nb::kw_only(), "theta"_a = TableOptions{}.theta, "space"_a = TableOptions{}.space,
        "paper_labels"_a = false, "threads"_a = 1, "progress"_a.none() = nb::none(),
        "Builds the table of a pair. `progress(done, total)` is called after every slice; with threads it must be "
        "None.");
    m.def(
        "grain_table_map",
        [](const std::shared_ptr<grains::Table>& table, const GrainShape& a, const GrainShape& b) {
            return make_table_map(table, a, b);
        },
        "table"_a, "a"_a, "b"_a, "The map of a table; refused unless it was built for these shapes.");
    nb::class_<MapAudit>(m, "GrainMapAudit", "Errors of a contact map near contact.")
        .def_ro("rmse", &MapAudit::rmse, "Of the distance, in circumradii.")
        .def_ro("normal_median", &MapAudit::normal_median, "[degrees]")
        .def_ro("normal_p90", &MapAudit::normal_p90, "[degrees]")
        .def_ro("wrap_jump", &MapAudit::wrap_jump, "In circumradii.")
        .def_ro("samples", &MapAudit::samples)
        .def(
            "require",
            [](const MapAudit& audit, const std::string& place, double rmse, double normal_median) {
                require(audit, {rmse, normal_median}, place);
            },
            "place"_a, nb::kw_only(), "rmse"_a = AuditBounds{}.rmse, "normal_median"_a = AuditBounds{}.normal_median,
            "Raises ValueError, saying what to raise, when the map is worse than this.");
    m.def(
        "grain_audit",
        [](const ContactMap& map, const GrainShape& a, const GrainShape& b, int samples, std::uint64_t seed) {
            const nb::gil_scoped_release unlocked;
            Random random(seed);
            return audit_map(map, a, b, samples, random);
        },
        "map"_a, "a"_a, "b"_a, nb::kw_only(), "samples"_a = 4000, "seed"_a = 1,
        "Compares a map with the exact distance at random configurations near contact.");
    m.def("save_grain_table", &save_table, "path"_a, "table"_a, "audit"_a);
    m.def(
        "load_grain_table",
        [](const std::filesystem::path& path) {
            TableFile file = load_table(path);
            return nb::make_tuple(std::make_shared<grains::Table>(std::move(file.table)), file.audit);
        },
        "path"_a, "Table and audit of a file.");
}

void bind_walls(nb::module_& m) {
    nb::class_<Wall>(m, "GrainWall", "A half-plane, a disc, or the inside of a circle.")
        .def_static(
            "half_plane",
            [](const Pair& normal, double offset, double friction, const Pair& velocity) {
                Wall wall{
                    .normal = vector(normal), .offset = offset, .velocity = vector(velocity), .friction = friction};
                validate(wall);
                return wall;
            },
            "normal"_a, "offset"_a = 0.0, nb::kw_only(), "friction"_a = 0.5, "velocity"_a = Pair{0.0, 0.0},
            "Grains stay where normal . x >= offset.")
        .def_static("disc", &circle<WallKind::Disc>, "centre"_a, "radius"_a, nb::kw_only(), "friction"_a = 0.5,
                    "spin"_a = 0.0, "Grains stay outside.")
        .def_static("container", &circle<WallKind::Container>, "centre"_a, "radius"_a, nb::kw_only(),
                    "friction"_a = 0.5, "spin"_a = 0.0, "Grains stay inside.")
        .def_rw("enabled", &Wall::enabled)
        .def_rw("velocity", &Wall::velocity, "[m/s]")
        .def_rw("friction", &Wall::friction)
        .def_rw("spin", &Wall::spin, "[rad/s]")
        .def_ro("normal", &Wall::normal)
        .def_ro("offset", &Wall::offset, "[m]")
        .def_ro("centre", &Wall::centre, "[m]")
        .def_ro("radius", &Wall::radius, "[m]")
        .def_prop_ro("kind", [](const Wall& wall) {
            return wall.kind == WallKind::HalfPlane ? "half_plane" : wall.kind == WallKind::Disc ? "disc" : "container";
        });
}

void bind_law(nb::module_& m) {
    nb::class_<ContactLaw>(m, "GrainLaw", "Stiffness, damping and friction of contacts between grains.")
        .def(
            "__init__",
            [](ContactLaw* self, double kn, double cn, double kt, double ct, double friction) {
                const ContactLaw law{kn, cn, kt, ct, friction};
                validate(law);
                new (self) ContactLaw(law);
            },
            nb::kw_only(), "normal_stiffness"_a, "normal_damping"_a, "tangent_stiffness"_a, "tangent_damping"_a,
            "friction"_a)
        .def_static(
            "default",
            [](double mass, double radius, double gravity, double layers, double speed, double restitution,
               double friction, double depth) {
                return default_law({mass, radius, gravity, layers, speed, restitution, friction, depth});
            },
            nb::kw_only(), "mass"_a, "radius"_a, "gravity"_a = 9.81, "layers"_a = 100.0, "speed"_a = 0.0,
            "restitution"_a = 0.5, "friction"_a = 0.5, "depth"_a = 0.01,
            "From the weight of the layers and the fastest impact; depth is the wanted penetration in radii.")
        .def_ro("normal_stiffness", &ContactLaw::normal_stiffness, "[N/m]")
        .def_ro("normal_damping", &ContactLaw::normal_damping, "[N s/m]")
        .def_ro("tangent_stiffness", &ContactLaw::tangent_stiffness, "[N/m]")
        .def_ro("tangent_damping", &ContactLaw::tangent_damping, "[N s/m]")
        .def_ro("friction", &ContactLaw::friction);
}

nb::dict audit_dict(const Audit& a) {
    nb::dict out;
    out["kinetic"] = a.kinetic;
    out["gravitational"] = a.gravitational;
    out["elastic"] = a.elastic;
    out["momentum_x"] = a.momentum_x;
    out["momentum_y"] = a.momentum_y;
    out["angular_momentum"] = a.angular_momentum;
    out["deepest"] = a.deepest;
    out["contacts"] = a.contacts;
    out["wall_contacts"] = a.wall_contacts;
    return out;
}

nb::dict state_dict(const System& system) {
    const SystemState s = system.state();
    nb::dict out;
    out["steps"] = s.steps;
    out["poses"] = s.poses;
    out["velocities"] = s.velocities;
    out["contacts"] = s.contacts;
    out["springs"] = s.springs;
    out["wall_springs"] = s.wall_springs;
    out["walls"] = s.walls;
    out["pivots"] = s.pivots;
    return out;
}

template <class Value>
Value entry(const nb::dict& from, const char* name) {
    if (!from.contains(name)) fail("grains: state has no '", name, "'");
    Value value;
    if (!nb::try_cast<Value>(from[name], value)) fail("grains: state '", name, "' has the wrong type or shape");
    return value;
}

void set_state_dict(System& system, const nb::dict& from) {
    SystemState s;
    s.steps = entry<std::int64_t>(from, "steps");
    s.poses = entry<Rows3>(from, "poses");
    s.velocities = entry<Rows3>(from, "velocities");
    s.contacts = entry<decltype(s.contacts)>(from, "contacts");
    s.springs = entry<Rows3>(from, "springs");
    s.wall_springs = entry<Rows3>(from, "wall_springs");
    s.walls = entry<Rows3>(from, "walls");
    s.pivots = entry<decltype(s.pivots)>(from, "pivots");
    system.set_state(s);
}

/// Adds grains of one shape; the number of the first.
int add_grains(System& system, int shape, const Rows3& poses, const Rows3& velocities, int motion) {
    if (velocities.rows() != 0 && velocities.rows() != poses.rows())
        fail("grains: ", velocities.rows(), " velocities for ", poses.rows(), " poses");
    const int first = system.num_grains();
    for (Eigen::Index i = 0; i < poses.rows(); ++i) {
        Grain grain{.shape = shape, .x = poses(i, 0), .y = poses(i, 1), .theta = poses(i, 2), .motion = motion};
        if (velocities.rows() != 0) {
            grain.vx = velocities(i, 0);
            grain.vy = velocities(i, 1);
            grain.omega = velocities(i, 2);
        }
        system.add_grain(grain);
    }
    return first;
}

void bind_system(nb::module_& m) {
    nb::class_<Motion>(m, "GrainMotion", "A prescribed turn about a pivot that moves along.")
        .def(
            "__init__",
            [](Motion* self, const Pair& velocity, double spin, const Pair& pivot) {
                new (self) Motion{vector(velocity), spin, vector(pivot)};
            },
            nb::kw_only(), "velocity"_a = Pair{0.0, 0.0}, "spin"_a = 0.0, "pivot"_a = Pair{0.0, 0.0})
        .def_ro("velocity", &Motion::velocity, "[m/s]")
        .def_ro("spin", &Motion::spin, "[rad/s]")
        .def_ro("pivot", &Motion::pivot, "[m]");
    nb::class_<System>(m, "GrainSystem", "Many grains in motion.")
        .def(
            "__init__",
            [](System* self, std::vector<GrainShape> shapes, const nb::list& maps, const ContactLaw& law,
               const Pair& gravity, double dt, double density, double skin, double smoothing, double start_depth,
               int threads) {
                std::vector<std::vector<std::shared_ptr<const ContactMap>>> table;
                for (const nb::handle row : maps) {
                    auto& out = table.emplace_back();
                    for (const nb::handle entry : nb::cast<nb::list>(row)) {
                        out.push_back(entry.is_none() ? nullptr : nb::cast<std::shared_ptr<ContactMap>>(entry));
                    }
                }
                new (self) System(std::move(shapes), std::move(table),
                                  SystemOptions{.gravity = vector(gravity),
                                                .law = law,
                                                .dt = dt,
                                                .density = density,
                                                .skin = skin,
                                                .smoothing = smoothing,
                                                .start_depth = start_depth,
                                                .threads = threads});
            },
            "shapes"_a, "maps"_a, nb::kw_only(), "law"_a, "gravity"_a = Pair{0.0, -9.81}, "dt"_a = 0.0,
            "density"_a = 1.0, "skin"_a = SystemOptions{}.skin, "smoothing"_a = SystemOptions{}.smoothing,
            "start_depth"_a = SystemOptions{}.start_depth, "threads"_a = 1,
            "maps[a][b] for a <= b is the GrainMap of shapes a and b; others may be None. dt 0 is chosen from the "
            "stiffness.")
        .def("add_motion", &System::add_motion, "motion"_a)
        .def("set_motion", &System::set_motion, "index"_a, "motion"_a)
        .def("motion", &System::motion, "index"_a)
        .def("add_wall", &System::add_wall, "wall"_a)
        .def("set_wall", &System::set_wall, "index"_a, "wall"_a)
        .def("wall", &System::wall, "index"_a, nb::rv_policy::copy)
        .def("add", &add_grains, "shape"_a, "poses"_a, nb::kw_only(), "velocities"_a = Rows3(0, 3), "motion"_a = kFree,
             "Adds grains of one shape at rows (x, y, theta); the number of the first. motion -1: free.")
        .def("set_driver", &System::set_driver, "grain"_a, "motion"_a,
             "Hands a grain to a motion; -1 sets it free, -2 takes it out: it stays at rest and touches nothing.")
        .def("set_friction", &System::set_friction, "friction"_a)
        .def("check_start", &System::check_start,
             "Raises ValueError when grains overlap at the start or maps are missing.")
        .def(
            "run",
            [](System& system, int steps) {
                const nb::gil_scoped_release unlocked;
                return system.run(steps) == RunStatus::Done;
            },
            "steps"_a, "Takes steps; False when a coordinate is no longer finite.")
        .def("state", &state_dict, "Everything needed to continue exactly, by grain number.")
        .def("set_state", &set_state_dict, "state"_a)
        .def(
            "audit", [](System& system) { return audit_dict(system.audit()); },
            "Energies [J], momenta, deepest penetration [m], numbers of contacts.")
        .def("touching", &System::touching, "Rows (grain, grain, distance [m]) of touching pairs.")
        .def("counters",
             [](const System& system) {
                 const Counters c = system.counters();
                 nb::dict out;
                 out["list_builds"] = c.list_builds;
                 out["list_pairs"] = c.list_pairs;
                 out["clamped"] = c.clamped;
                 return out;
             })
        .def(
            "reaction",
            [](const System& system, int motion) {
                const Wrench w = system.reaction(motion);
                return std::array{w.fx, w.fy, w.torque};
            },
            "motion"_a, "Force and torque about the pivot of grains on those of a motion.")
        .def_prop_ro("num_grains", &System::num_grains)
        .def_prop_ro("dt", &System::dt, "[s]")
        .def_prop_ro("time", &System::time, "[s]")
        .def_prop_ro("shapes", &System::shapes)
        .def_prop_ro("shape_index",
                     [](const System& system) {
                         Eigen::VectorXi out(system.num_grains());
                         for (int i = 0; i < system.num_grains(); ++i) out[i] = system.shape_of(i);
                         return out;
                     })
        .def_prop_ro("free", [](const System& system) {
            Eigen::Matrix<bool, Eigen::Dynamic, 1> out(system.num_grains());
            for (int i = 0; i < system.num_grains(); ++i) out[i] = system.driver_of(i) == kFree;
            return out;
        });
}

}  // namespace

void bind_grains(nb::module_& m) {
    bind_shapes(m);
    bind_maps(m);
    bind_walls(m);
    bind_law(m);
    bind_system(m);
}

}  // namespace farfield::python
