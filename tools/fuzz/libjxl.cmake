# Clang makes libjxl build fuzz targets of its own, which do not link here. With a file like this one the compilers that
# cargo's build scripts would name are left out.
set(CMAKE_C_COMPILER clang)
set(CMAKE_CXX_COMPILER clang++)
set(JPEGXL_ENABLE_FUZZERS OFF CACHE BOOL "")
