// SPDX-License-Identifier: Apache-2.0
#include "farfield/io/strict_json.hpp"

#include <set>
#include <vector>

#include "farfield/base/error.hpp"

namespace farfield {

using nlohmann::json;

json parse_strict(std::string_view text, const std::string& place, int max_depth) {
    std::vector<std::set<std::string>> keys(static_cast<std::size_t>(max_depth) + 1);  // of the open objects, by depth
    const json::parser_callback_t watch = [&](int depth, json::parse_event_t event, json& parsed) {
        using Event = json::parse_event_t;
        if (event == Event::object_start || event == Event::array_start) {
            if (depth >= max_depth) fail_file(place, ": nested deeper than ", max_depth, " levels");
            keys[static_cast<std::size_t>(depth) + 1].clear();
        } else if (event == Event::key) {
            const auto& key = parsed.get_ref<const std::string&>();
            if (!keys[static_cast<std::size_t>(depth)].insert(key).second) {
                fail_file(place, ": key '", key, "' is repeated, expected it once");
            }
        }
        return true;
    };
    try {
        return json::parse(text.begin(), text.end(), watch);
    } catch (const json::parse_error& error) {
        fail_file(place, ": byte ", error.byte, " is not valid, expected UTF-8 JSON");
    } catch (const json::exception&) {
        fail_file(place, ": a number is out of range, expected a finite double");
    }
}

std::string dump_strict(const json& value, const std::string& place) {
    try {
        return value.dump();
    } catch (const json::exception&) {
        fail_file(place, ": a name or text is not valid UTF-8");
    }
}

}  // namespace farfield
