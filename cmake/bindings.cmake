# SPDX-License-Identifier: Apache-2.0
# farfield._core: nanobind in linked mode (its runtime is compiled into the module), with a generated stub.
find_package(Python 3.10 REQUIRED COMPONENTS Interpreter Development.Module)
execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
                OUTPUT_VARIABLE NANOBIND_CMAKE_DIR OUTPUT_STRIP_TRAILING_WHITESPACE RESULT_VARIABLE NANOBIND_MISSING)
if(NANOBIND_MISSING)
    message(FATAL_ERROR "nanobind not found for ${Python_EXECUTABLE}: ${Python_EXECUTABLE} -m pip install nanobind")
endif()
find_package(nanobind CONFIG REQUIRED PATHS ${NANOBIND_CMAKE_DIR} NO_DEFAULT_PATH)

file(GLOB FARFIELD_BINDING_SOURCES CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bindings/*.cpp)
nanobind_add_module(_core NB_STATIC NB_SUPPRESS_WARNINGS ${FARFIELD_BINDING_SOURCES})
target_include_directories(_core PRIVATE ${PROJECT_SOURCE_DIR}/bindings)
target_compile_definitions(_core PRIVATE FARFIELD_VERSION="${PROJECT_VERSION}")
target_link_libraries(_core PRIVATE farfield farfield_flags hwy::hwy)
target_precompile_headers(_core PRIVATE ${FARFIELD_PRECOMPILED_HEADERS} <nanobind/nanobind.h> <nanobind/ndarray.h>
                          <nanobind/eigen/dense.h> <nanobind/stl/function.h> <nanobind/stl/map.h> <nanobind/stl/shared_ptr.h>
                          <nanobind/stl/string.h> <nanobind/stl/vector.h>)
if(FARFIELD_UNITY)
    farfield_compile_together(_core 10 ${FARFIELD_BINDING_SOURCES})
endif()

# Benchmarks print how the core was compiled beside every time.
get_target_property(FARFIELD_OPTIONS farfield_flags INTERFACE_COMPILE_OPTIONS)
list(FILTER FARFIELD_OPTIONS EXCLUDE REGEX "^(-W|-fpch|--param)")
string(TOUPPER "${CMAKE_BUILD_TYPE}" FARFIELD_CONFIG)
string(JOIN " " FARFIELD_FLAGS -std=c++${CMAKE_CXX_STANDARD} ${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${FARFIELD_CONFIG}} ${FARFIELD_OPTIONS})
set_property(SOURCE ${PROJECT_SOURCE_DIR}/bindings/benchmarks.cpp APPEND PROPERTY COMPILE_DEFINITIONS
             FARFIELD_COMPILER="${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION}" FARFIELD_FLAGS="${FARFIELD_FLAGS}")

# In a wheel the module is installed beside the Python files. In a development tree it is written straight into
# python/farfield, so that every build is at once what Python imports.
if(SKBUILD)
    set(FARFIELD_PACKAGE_DIR ${PROJECT_BINARY_DIR}/farfield)
    install(TARGETS _core LIBRARY DESTINATION farfield COMPONENT python)
    install(FILES ${FARFIELD_PACKAGE_DIR}/_core.pyi DESTINATION farfield COMPONENT python)
    install(DIRECTORY scenes/ DESTINATION farfield/scenes COMPONENT python FILES_MATCHING PATTERN *.xml PATTERN *.obj)
else()
    set(FARFIELD_PACKAGE_DIR ${PROJECT_SOURCE_DIR}/python/farfield CACHE PATH "Where the Python module is written")
endif()
set_target_properties(_core PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${FARFIELD_PACKAGE_DIR})

nanobind_add_stub(_core_stub MODULE _core OUTPUT ${FARFIELD_PACKAGE_DIR}/_core.pyi PYTHON_PATH ${FARFIELD_PACKAGE_DIR}
                  DEPENDS _core)
