# SPDX-License-Identifier: Apache-2.0
# Files of one folder compiled together, a few at a time: most of the compiler's work is the same templates for every file.
# Unnamed namespaces of a folder are then shared, so its helpers bear different names; what is compiled once for every
# instruction set stands alone. The debug preset compiles every file alone.
function(farfield_compile_together target files_at_once)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
        # Inlining is rationed by file: with the usual ration a step takes 3 % longer than with every file alone.
        target_compile_options(${target} PRIVATE --param=inline-unit-growth=400 --param=large-unit-insns=100000)
    endif()
    set(last "")
    foreach(source IN LISTS ARGN)
        file(STRINGS ${source} for_every_target REGEX "HWY_TARGET_INCLUDE" LIMIT_COUNT 1)
        if(for_every_target)
            continue()
        endif()
        get_filename_component(folder ${source} DIRECTORY)
        string(REPLACE "${PROJECT_SOURCE_DIR}/" "" folder ${folder})
        string(REPLACE "/" "_" folder ${folder})
        if(NOT folder STREQUAL last)
            set(count 0)
            set(last ${folder})
        endif()
        math(EXPR group "${count} / ${files_at_once}")
        math(EXPR count "${count} + 1")
        set_source_files_properties(${source} PROPERTIES UNITY_GROUP "${folder}_${group}")
    endforeach()
endfunction()
