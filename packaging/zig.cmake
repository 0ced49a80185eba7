# For CMake where zig is the compiler, as maturin names it: without libjxl's fuzzer, which zig compiles and cannot link.
set(target "${CMAKE_HOST_SYSTEM_PROCESSOR}_unknown_linux_gnu")
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR "${CMAKE_HOST_SYSTEM_PROCESSOR}")
set(CMAKE_C_COMPILER "$ENV{CC_${target}}")
set(CMAKE_CXX_COMPILER "$ENV{CXX_${target}}")
set(CMAKE_AR "$ENV{AR_${target}}")
set(CMAKE_RANLIB "$ENV{RANLIB_${target}}")
set(JPEGXL_ENABLE_FUZZERS OFF CACHE BOOL "")
