# Read by CMake for each C library that is compiled in. It stands here, and not in a script's environment, so that
# `cargo build` and `./dev` compile the same objects, and neither has to compile the other's again.

if(CMAKE_SOURCE_DIR MATCHES "libaom-sys")
  # For tests its crate asks for a debug build, which encodes ten times slower.
  set(CMAKE_BUILD_TYPE Release)
  # What only its tools and its noise model take.
  set(CONFIG_LIBYUV 0 CACHE STRING "")
  set(CONFIG_DENOISE 0 CACHE STRING "")
endif()

# The C libraries of tests, demo and release are the same: the second build takes the objects of the first.
find_program(ANDON_CCACHE ccache)
if(ANDON_CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${ANDON_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${ANDON_CCACHE})
endif()
