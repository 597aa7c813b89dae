// SPDX-License-Identifier: Apache-2.0
#pragma once
/// @file  What a System holds: grains in spatial order ("slots"), their neighbour list and springs.
#include <cstdint>
#include <memory>
#include <vector>

#include "farfield/grains/neighbours.hpp"
#include "farfield/grains/pair_lanes.hpp"
#include "farfield/grains/system.hpp"

namespace farfield::grains {

/// Pairs of one map within a chunk.
struct MapRun {
    std::int32_t begin = 0, end = 0, map = 0;
};

inline constexpr int kPairChunk = 512;
inline constexpr int kGrainChunk = 512;

struct System::Data {
    std::vector<GrainShape> shapes;
    std::vector<std::shared_ptr<const ContactMap>> maps;  ///< [a * shapes + b]
    SystemOptions options;
    double dt = 0.0;
    std::vector<Motion> motions;
    std::vector<Wall> walls;

    // By slot.
    std::vector<Body> bodies;
    std::vector<std::int32_t> id, shape, driver;
    std::vector<double> radius, inverse_mass, inverse_inertia;
    std::vector<char> held;            ///< 0: free, 1: driven, 2: taken out
    std::vector<Spring> wall_springs;  ///< [slot * walls + wall]
    std::vector<Wrench> reactions;     ///< of the last step, for held grains
    // By grain number.
    std::vector<std::int32_t> slot;

    // Neighbour list.
    bool list_valid = false;
    CellGrid grid;
    std::vector<SlotPair> found;
    std::vector<ListPair> pairs;
    std::vector<MapRun> runs;                      ///< in order; none crosses a chunk
    std::vector<std::int32_t> chunk_runs;          ///< first run of each chunk, and one behind the last
    std::vector<Spring> springs;                   ///< by pair
    std::vector<PairForce> forces;                 ///< by pair
    std::vector<std::int32_t> incident_first;      ///< by slot
    std::vector<std::int32_t> incident;            ///< 2 pair + (1 when the slot is B), by the other grain's number
    std::vector<double> reference_x, reference_y;  ///< where the list was made
    std::vector<char> near_wall;                   ///< by slot: a wall may be touched before the next list

    bool checked = false, maps_checked = false;
    std::int64_t steps = 0;
    Counters counters;
    std::unique_ptr<ThreadPool> pool;

    [[nodiscard]] double largest_radius() const;
    [[nodiscard]] double skin() const { return options.skin * largest_radius(); }
    [[nodiscard]] int num_grains() const { return static_cast<int>(bodies.size()); }
    void check_maps();
    void ensure_list();
    void rebuild_list();
    void reorder();
    void find_near_walls();
    void step();
    /// Forces of all pairs, and their friction springs one step on.
    void push_pairs();
    /// Forces of touching pairs among list pairs of one map; returns how many had no direction.
    int push_run(const MapRun& run);
    /// Force and torque of pairs and walls on the grain in slot s; its springs on walls go one step on.
    [[nodiscard]] Wrench wrench_on(std::size_t s);
    double move_grains(std::size_t begin, std::size_t end);
    void add_walls(std::size_t s, Wrench& sum);
    RunStatus run(int steps);
    [[nodiscard]] bool finite() const;
    [[nodiscard]] Relative relative(const ListPair& pair) const;
    /// Sum of the circumradii of a map's shapes.
    [[nodiscard]] double reach_of(std::int32_t map) const {
        const std::size_t count = shapes.size(), index = static_cast<std::size_t>(map);
        return shapes[index / count].radius + shapes[index % count].radius;
    }

    /// Springs of touching pairs by grain numbers, lower first; and the reverse.
    void collect_springs(SystemState& state) const;
    void restore_springs(const SystemState& state);
};

}  // namespace farfield::grains
